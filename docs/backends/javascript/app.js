// The backend's part of Sign in with Apple, with the package siwa-client. users.js has the backend's own tables.
//
// Environment: SIWA_URL, SIWA_API_KEY and SIWA_CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at, 127.0.0.1
// and 8000 by default. With SIWA_WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed.
import { SiwaClient } from "siwa-client";
import { serve, stop } from "./server.js";
import * as users from "./users.js";

const { SIWA_CLIENT_ID, SIWA_WEBHOOK_SECRETS, HOST = "127.0.0.1", PORT = "8000" } = process.env;
const missing = ["SIWA_URL", "SIWA_API_KEY", "SIWA_CLIENT_ID"].filter((name) => !process.env[name]);
if (missing.length > 0) stop(`missing environment variables: ${missing.join(", ")}`);
let siwa;
try {
    siwa = new SiwaClient();
    await siwa.check();
} catch (error) {
    stop(`cannot start: ${error.message}`);
}

/** With a session, attaches the Apple Account to the user of the session. */
async function signIn({ form, session }) {
    feed.check();
    const userId = session && users.userOf(session).userId;
    const { account, credential } = await siwa.signIn(form);
    return users.signIn(userId, account, credential.since);
}

async function deleteUser({ session }) {
    const { userId, accountId = "" } = users.userOf(session);
    const { user_must_revoke, instructions } = await unlessGone(siwa.delete(accountId)) ?? {};
    users.remove(userId);
    return { user_must_revoke, instructions };
}

/** Undefined if siwa no longer has the account or the grant, or if the user has only a password. */
async function unlessGone(call) {
    try {
        return await call;
    } catch (error) {
        if (!["account_not_found", "grant_not_found"].includes(error.code)) throw error;
    }
}

/** Without a decision, returns what the app asks the user. With a decision, returns the URL to open. */
function googleLink({ form, session }) {
    const isPrompt = (form.decision ?? null) === null;
    // The account is that of the session, never one that the app names. A user who refuses need not be known.
    const account = form.decision === "granted" || (isPrompt && session) ? users.appleAccountOf(session) : undefined;
    return isPrompt ? siwa.appFlipPrompt(form, account) : siwa.appFlip(form, account);
}

/** Handles one event. After a crash the same event can come again. */
async function handle({ type, account_id, team_id, sub, client_id, occurred_at }) {
    if (!account_id) return; // about a user who has never signed in
    const user = users.withAccount(account_id);
    if (type === "credential_revoked" && client_id === SIWA_CLIENT_ID) {
        users.endSessions(account_id, occurred_at);
    } else if (type === "sessions_ended") {
        users.endSessions(account_id, occurred_at, { evenOfPassword: true });
    } else if (type === "account_disabled" || type === "account_enabled") {
        users.setDisabled(account_id, type === "account_disabled");
    } else if (type === "account_deleted" && user) {
        // The user may have kept the Apple Account and signed in again.
        if ((await siwa.state(user.sub)).state === "authorized") return;
        await unlessGone(siwa.delete(account_id));
        users.forget(account_id);
    } else if (type === "account_erased") {
        users.forget(account_id);
    } else if (type === "account_transferred") {
        users.move(account_id, team_id, sub); // the app belongs to another team, where the user has another sub
    }
}

/** siwa gets 2xx when everything is stored, and sends the event again otherwise. */
async function takeWebhook({ headers, bytes }) {
    const event = await siwa.verifyWebhook(headers, bytes);
    feed.check(); // the states that are being read can be older than the event
    await users.once(event, handle);
    return {};
}

const resync = async () => {
    for (const event of await siwa.missedEvents(users.withAppleAccounts())) await handle(event);
};
const feed = siwa.events(users.cursor, { resync });
feed.start(SIWA_WEBHOOK_SECRETS ? undefined : handle);
serve(HOST, Number(PORT), {
    "POST /nonce": () => siwa.makeNonce(),
    "POST /signin": signIn,
    "POST /password": ({ form: { name, password } }) => users.signInWithPassword(String(name), String(password)),
    "GET /me": ({ session }) => users.shown(session),
    "POST /signout": ({ session }) => users.signOut(session),
    "DELETE /account": deleteUser,
    "POST /app-attest/challenges": ({ form }) => siwa.makeChallenge(form.purpose),
    "POST /app-attest/keys": ({ form }) => siwa.registerKey(form),
    "POST /google-link": googleLink,
    "GET /links": async ({ session }) => ({ links: await unlessGone(siwa.grants(users.accountOf(session))) ?? [] }),
    "DELETE /links/ID": async ({ session, id }) => await unlessGone(siwa.endGrant(users.accountOf(session), id)) ?? {},
    "POST /siwa": SIWA_WEBHOOK_SECRETS && takeWebhook,
});
