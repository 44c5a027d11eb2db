// The backend's part of Sign in with Apple, with nothing but Node.js 18 or later.
//
// Environment: SIWA_URL, SIWA_KEY (the API key), CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at,
// 127.0.0.1 and 8000 by default. With WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed: one secret,
// or two with a space between them during a rotation. The tables are kept in memory; put them into your database.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import * as passwords from "./passwords.mjs";
import * as webhooks from "./webhooks.mjs";

const { SIWA_URL, SIWA_KEY, CLIENT_ID, HOST = "127.0.0.1", PORT = "8000" } = process.env;
const missing = ["SIWA_URL", "SIWA_KEY", "CLIENT_ID"].filter((name) => !process.env[name]);
if (missing.length > 0) stop(`missing environment variables: ${missing.join(", ")}`);
const webhookKeys = readWebhookKeys(process.env.WEBHOOK_SECRETS ?? "");

const users = new Map(); // user_id: { accountID, teamID, sub, formerID }
const sessions = new Map(); // session_hash: { userID, since, createdAt }
const revocations = new Map(); // account_id: occurred_at
const disabled = new Set(); // account_id
const handled = new Map(); // event_id: milliseconds, the oldest first
const millisecondsOfHandled = 8 * 86_400_000; // siwa sends an event again for seven days
let cursor = "";
let feedHasBegun = false;

function stop(reason) {
    console.error(reason);
    process.exit(1);
}

function readWebhookKeys(secrets) {
    try {
        return webhooks.keysOf(secrets);
    } catch (error) {
        return stop(`WEBHOOK_SECRETS: ${error.message}`);
    }
}

/** What the app gets: a status, a code, and with a refused proof of App Attest its cause and re_attest. */
class Refused extends Error {
    constructor(status, code, proof = {}) {
        super(code);
        Object.assign(this, { status, code, proof });
    }
}

/** Calls siwa. All calls of this file can be repeated, so one whose outcome is unknown is sent again. */
async function siwa(method, path, body, milliseconds = 12_000) {
    const headers = { Authorization: `Bearer ${SIWA_KEY}` };
    if (body) headers["Content-Type"] = "application/json";
    for (let attempt = 0; attempt < 3; attempt++) {
        let pause = 1;
        try {
            const signal = AbortSignal.timeout(milliseconds);
            const options = { method, headers, body: JSON.stringify(body), signal };
            const response = await fetch(SIWA_URL + path, options);
            if (response.ok) return response.status === 204 ? {} : await response.json();
            if (response.status < 500 && response.status !== 429) {
                const { status } = response;
                const { code = "", cause, re_attest } = Object(await response.json().catch(() => ({})));
                if (code && !code.startsWith("caller_")) throw new Refused(status, code, { cause, re_attest });
                // Not a mistake of the user, so the app gets a 500.
                throw new Refused(500, `siwa answers ${status} ${code}: check SIWA_URL and SIWA_KEY`);
            }
            pause = Math.min(Number(response.headers.get("Retry-After")) || 1, 5);
            await response.body?.cancel();
        } catch (error) {
            // Anything else is no connection, no response in time, or a part of one.
            if (error instanceof Refused) throw error;
        }
        if (attempt < 2) await sleep(pause * 1000);
    }
    console.error(`siwa does not answer at ${SIWA_URL}; requests that need it get 503`);
    throw new Refused(503, "try_again");
}

const hashed = (session) => createHash("sha256").update(session).digest("hex");

function makeSession(userID, since) {
    const session = randomBytes(32).toString("base64url");
    sessions.set(hashed(session), { userID, since, createdAt: Date.now() });
    return { session, user_id: userID };
}

/** The user of a session, also of a disabled account. */
function sessionUser(session) {
    const row = sessions.get(hashed(session));
    if (!row) throw new Refused(401, "session_ended");
    return row.userID;
}

function userOf(session) {
    const userID = sessionUser(session);
    // Until the account is enabled, when the session is good again.
    if (disabled.has(users.get(userID)?.accountID)) throw new Refused(403, "account_disabled");
    return userID;
}

const userWhere = (condition) => [...users].find(([, user]) => condition(user))?.[0];
const userWithAccount = (accountID) => userWhere((user) => user.accountID === accountID);
const userWithSub = (teamID, sub) => userWhere((user) => user.teamID === teamID && user.sub === sub);

/** With a session, attaches the Apple Account to the user of the session. */
async function signIn({ identity_token, authorization_code, nonce, user, ...rest }, session) {
    if (!feedHasBegun) throw new Refused(503, "try_again"); // the revocation of this sign-in could be missed
    const sessionUser = session ? userOf(session) : undefined;
    // Only a nonce of siwa's is good for one sign-in. The digest that a stolen token contains would pass as
    // a nonce of your own.
    if (!String(nonce).startsWith("siwa-nonce-")) throw new Refused(400, "nonce_missing");
    const call = { identity_token, authorization_code, nonce, user, client_id: CLIENT_ID };
    const request = { ...call, ...proofOf(rest) };
    const { account, credential } = await siwa("POST", "/v1/sign-ins", request);
    // The event of a revocation can arrive before the response of the sign-in that it revokes.
    if (credential.since <= (revocations.get(account.id) ?? "")) throw new Refused(401, "credential_revoked");
    // After a restore of siwa's database the same user can have another account ID, with the same sub.
    const owner = userWithAccount(account.id) ?? userWithSub(account.team_id, account.sub);
    const userID = sessionUser ?? owner ?? `usr_${randomBytes(16).toString("hex")}`;
    const { accountID, formerID } = users.get(userID) ?? {};
    // It belongs to another user, or this user has another one.
    const isOthers = owner ? owner !== userID : accountID;
    if (isOthers) throw new Refused(409, "other_apple_account");
    users.set(userID, {
        accountID: account.id,
        teamID: account.team_id,
        sub: account.sub,
        formerID: accountID === account.id ? formerID : accountID,
    });
    return makeSession(userID, credential.since);
}

/** The app's proof of App Attest and its version. siwa decides about them, so they are passed on as they are. */
const proofOf = ({ attestation, app_version }) => ({ attestation, app_version });

/** The app asks for a challenge before it attests a key, and before each proof. */
const challenge = ({ purpose }) => siwa("POST", "/v1/app-attest/challenges", { purpose, client_id: CLIENT_ID });

const registerKey = ({ key_id, attestation, challenge }) =>
    siwa("POST", "/v1/app-attest/keys", { key_id, attestation, challenge, client_id: CLIENT_ID });

async function signInWithPassword({ name, password }) {
    const userID = await passwords.check(String(name), String(password));
    if (!userID) throw new Refused(401, "password_wrong");
    if (!users.has(userID)) users.set(userID, {});
    return makeSession(userID);
}

function showUser(_, session) {
    const userID = userOf(session);
    return { user_id: userID, account_id: users.get(userID)?.accountID };
}

/** Ends this session only: the account, the user's consent and other devices stay as they are. */
function signOut(_, session) {
    sessions.delete(hashed(session));
    return {};
}

async function deleteUser(_, session) {
    const userID = userOf(session);
    const accountID = users.get(userID)?.accountID;
    const { user_must_revoke, instructions } = accountID ? await erase(accountID) : {};
    passwords.remove(userID);
    forget(userID);
    return { user_must_revoke, instructions };
}

async function erase(accountID) {
    try {
        return (await siwa("DELETE", `/v1/accounts/${accountID}`)).erasure;
    } catch (error) {
        if (error.code !== "account_not_found") throw error;
        return {};
    }
}

const linkParameters = ["client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language"];
linkParameters.push("code_challenge", "code_challenge_method");

/** siwa's ID of the session's account, and the time of the sign-in with Apple that began the session. */
function accountOf(session) {
    // About a disabled account siwa decides, which has the URL with which Google ends linking.
    const { accountID } = users.get(sessionUser(session)) ?? {};
    if (!accountID) throw new Refused(409, "apple_account_missing"); // the user has only a password
    return { account_id: accountID, authenticated_at: sessions.get(hashed(session)).since };
}

/**
 * Without a decision, returns what the app asks the user. With a decision, returns the URL to open. A link that
 * cannot succeed has a URL to open in both cases.
 */
async function googleLink(body, session) {
    const { decision, granted_scopes } = body;
    const link = Object.fromEntries(linkParameters.map((name) => [name, body[name]]));
    // The account is that of the session, never one that the app names. A user who refuses need not be known.
    const isPrompt = decision === undefined || decision === null;
    const call = decision === "granted" || (isPrompt && session) ? { ...link, ...accountOf(session) } : link;
    if (isPrompt) return siwa("POST", "/v1/oauth/app-flip/prompt", call);
    return siwa("POST", "/v1/oauth/app-flip", { ...call, ...proofOf(body), decision, granted_scopes });
}

/** The clients that have access to the account, such as Google. */
async function links(_, session) {
    const { accountID } = users.get(userOf(session)) ?? {};
    try {
        if (!accountID) return { links: [] };
        return { links: (await siwa("GET", `/v1/accounts/${accountID}/grants`)).grants };
    } catch (error) {
        if (error.code !== "account_not_found") throw error;
        return { links: [] };
    }
}

/** Ends a link of the session's user. It is done, too, when an earlier attempt has ended it. */
async function unlink({ id }, session) {
    const { accountID } = users.get(userOf(session)) ?? {};
    if (!/^grt_[0-9a-f-]{1,64}$/.test(id)) throw new Refused(404, "not_found"); // it becomes a part of a path
    try {
        return accountID ? await siwa("DELETE", `/v1/accounts/${accountID}/grants/${id}`) : {};
    } catch (error) {
        if (!["grant_not_found", "account_not_found"].includes(error.code)) throw error;
        return {};
    }
}

/** Handles one event. After a crash the same event can come again. */
async function handle({ type, account_id, team_id, sub, client_id, occurred_at }) {
    if (!account_id) return; // about a user who has never signed in
    const userID = userWithAccount(account_id);
    if ((type === "credential_revoked" && client_id === CLIENT_ID) || type === "sessions_ended") {
        // The user may have signed in again, so only sessions that are not later than the event end. The
        // times can be compared, and all have one format, so that they compare as text.
        const before = revocations.get(account_id) ?? "";
        revocations.set(account_id, occurred_at > before ? occurred_at : before);
        endSessions(userID, (session) => session.since <= occurred_at);
        // Signed out everywhere, also where the session began with a password.
        if (type === "sessions_ended") endPasswordSessions(userID);
    } else if (type === "account_disabled") {
        disabled.add(account_id);
    } else if (type === "account_enabled") {
        disabled.delete(account_id);
    } else if (type === "account_deleted" && userID) {
        // The user may have kept the Apple Account and signed in again: read the state.
        const name = encodeURIComponent(users.get(userID).sub);
        const { state } = await siwa("GET", `/v1/credentials/${name}?client_id=${CLIENT_ID}`);
        if (state === "authorized") return;
        await erase(account_id);
        forget(userID);
    } else if (type === "account_erased") {
        disabled.delete(account_id);
        // A user who has signed in again since the erasure was found by sub, and is deleted here as well.
        const returned = userWhere((user) => user.formerID === account_id);
        if (userID ?? returned) forget(userID ?? returned);
    } else if (type === "account_transferred" && userID) {
        // The app belongs to another team, where the user has another sub.
        users.set(userID, { ...users.get(userID), teamID: team_id, sub });
    }
}

/** Handles the event of a webhook. siwa gets 2xx when everything is stored, and sends the event again otherwise. */
async function takeWebhook(headers, content) {
    const id = webhooks.verify(headers, content, webhookKeys);
    // The states that beginFeed is reading can be older than the event.
    if (!feedHasBegun) throw new Refused(503, "try_again");
    // An event that comes again is not handled again: later events may have come in between.
    if (handled.has(id)) return {};
    await handle(JSON.parse(content));
    const now = Date.now();
    for (const [old, moment] of handled) {
        if (moment >= now - millisecondsOfHandled) break;
        handled.delete(old);
    }
    handled.set(id, now);
    return {};
}

/** Ends those of a user's sessions that began with Apple and fulfil the condition. */
function endSessions(userID, condition = () => true) {
    for (const [hash, session] of sessions) {
        if (session.userID === userID && session.since && condition(session)) sessions.delete(hash);
    }
}

function endPasswordSessions(userID) {
    for (const [hash, session] of sessions) {
        if (session.userID === userID && !session.since) sessions.delete(hash);
    }
}

/** Deletes a user. One who has a password stays, without the Apple Account. */
function forget(userID) {
    endSessions(userID);
    if (passwords.exists(userID)) return users.set(userID, {});
    users.delete(userID);
    for (const [hash, session] of sessions) if (session.userID === userID) sessions.delete(hash);
}

/** Reads one page. */
async function readEvents() {
    if (!cursor) return beginFeed();
    try {
        const page = await siwa("GET", `/v1/events?after=${cursor}&wait=30`, undefined, 45_000);
        for (const event of page.events) await handle(event);
        cursor = page.cursor;
    } catch (error) {
        if (error.code !== "cursor_ahead") throw error;
        await beginFeed(); // siwa's database was restored from a backup
    }
}

/** Begins where the feed ends now, when there is no usable cursor. The states stand for earlier events. */
async function beginFeed() {
    // Before the states, so that no change is missed.
    const end = (await siwa("GET", "/v1/events?after=latest")).cursor;
    const latest = new Map();
    for (const { userID, since = "" } of sessions.values()) {
        if (since > (latest.get(userID) ?? "")) latest.set(userID, since);
    }
    const known = new Map();
    for (const [userID, { accountID, sub }] of users) {
        if (sub) known.set(sub, { accountID, since: latest.get(userID) ?? "" });
    }
    const subs = [...known.keys()];
    while (subs.length > 0) {
        const query = { client_id: CLIENT_ID, subs: subs.splice(0, 1000) };
        const { credentials } = await siwa("POST", "/v1/credentials/query", query);
        for (const { sub, state, reason, since, account_disabled } of credentials) {
            const change = account_disabled ? "account_disabled" : "account_enabled";
            await handle({ type: change, account_id: known.get(sub).accountID });
            if (state === "authorized") continue;
            await handle({
                type: eventOfReason[reason] ?? "credential_revoked",
                account_id: known.get(sub).accountID,
                client_id: CLIENT_ID,
                // If siwa does not know the user, the sessions from before the query end.
                occurred_at: since ?? known.get(sub).since,
            });
        }
    }
    cursor = end;
    feedHasBegun = true;
}

const eventOfReason = { apple_account_deleted: "account_deleted", erased: "account_erased" };

/** A backend that starts while siwa does not answer begins the feed later, and then takes sign-ins. */
async function startFeed() {
    try {
        await beginFeed();
    } catch (error) {
        if (error.status !== 503) stop(`cannot start: ${error.code ?? error.message}`);
    }
}

/** Reads the feed. With webhooks, only until it has begun. */
async function followEvents() {
    while (webhookKeys.length === 0 || !feedHasBegun) {
        try {
            await readEvents();
        } catch (error) {
            const reason = error instanceof Refused ? error.code : error;
            console.error("reading events failed; the next attempt has the same cursor:", reason);
            await sleep(2000);
        }
    }
}

const routes = {
    "POST /nonce": () => siwa("POST", "/v1/nonces"),
    "POST /app-attest/challenges": challenge,
    "POST /app-attest/keys": registerKey,
    "POST /signin": signIn,
    "POST /password": signInWithPassword,
    "POST /signout": signOut,
    "GET /me": showUser,
    "DELETE /account": deleteUser,
    "POST /google-link": googleLink,
    "GET /links": links,
    "DELETE /links/": unlink,
};

async function readBody(request) {
    const chunks = [];
    let length = 0;
    for await (const chunk of request) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > 65_536) throw new Refused(413, "body_too_large");
    }
    return Buffer.concat(chunks);
}

function parse(content) {
    try {
        return Object(JSON.parse(content.length > 0 ? content : "{}"));
    } catch {
        throw new Refused(400, "body_not_json");
    }
}

const server = createServer({ requestTimeout: 30_000 }, async (request, response) => {
    let [status, result] = [200, undefined];
    try {
        const link = request.url.match(/^\/links\/(.*)$/)?.[1];
        const name = `${request.method} ${link === undefined ? request.url : "/links/"}`;
        const isWebhook = name === "POST /siwa" && webhookKeys.length > 0;
        if (!isWebhook && !routes[name]) throw new Refused(404, "not_found");
        const session = (request.headers.authorization ?? "").replace(/^Bearer /, "");
        const content = await readBody(request);
        if (isWebhook) {
            result = await takeWebhook(request.headers, content);
        } else {
            result = await routes[name](link === undefined ? parse(content) : { id: link }, session);
        }
    } catch (error) {
        const isRefused = error instanceof Refused || error instanceof webhooks.WebhookRefused;
        status = isRefused ? error.status : 500;
        if (status === 500) console.error(request.method, request.url, error.code ?? error);
        result = status === 500 ? { error: "internal_error" } : { error: error.code, ...error.proof };
    }
    response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
    response.end(JSON.stringify(result));
});

await startFeed();
followEvents();
server.on("error", (error) => stop(`cannot start: ${error.message}`));
server.listen(Number(PORT), HOST, () => console.log(`listening on ${HOST}:${server.address().port}`));
