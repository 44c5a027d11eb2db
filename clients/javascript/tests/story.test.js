// The life of a person in a backend, against siwa and its fakes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SiwaClient, SiwaError } from "siwa-client";
import { FileCursor } from "siwa-client/file-cursor";
import { expressErrors, expressWebhook } from "siwa-client/frameworks";
import { APP, Apple, Program, SIWA, SIWA_DEV, ended, freePorts, post, siwaDev, temporaryFolder, until } from "./siwa.js";

/** A backend with sessions, which events end. Its tables are in memory. */
class Backend {
    sessions = new Map();
    events = [];

    constructor(client, folder) {
        this.client = client;
        const resync = () => void this.events.push("resync");
        this.feed = client.events(new FileCursor(`${folder}/cursor`), { resync, waitSeconds: 2 });
        this.follow().catch((error) => this.failure = error);
    }

    async signIn(form) {
        const outcome = await this.client.signIn(form);
        this.sessions.set(outcome.account.id, outcome.credential.since);
        return outcome;
    }

    async follow() {
        for await (const { type, account_id, occurred_at } of this.feed) {
            this.events.push(type);
            const ends = type === "credential_revoked" || type === "sessions_ended";
            if (ends && this.sessions.get(account_id) <= occurred_at) this.sessions.delete(account_id);
            if (type === "account_erased") return; // the end of the story
        }
    }
}

async function refusal(call) {
    const error = await call.then(() => undefined, (error) => error);
    assert(error instanceof SiwaError, `expected SiwaError, found ${error}`);
    return error;
}

/** A client whose feed ends after a failed test. Otherwise it would wait for siwa for ever. */
function clientOf(t, { url }, options) {
    let hasEnded = false;
    t.after(() => hasEnded = true);
    const clock = {
        now: () => Date.now() / 1000,
        async sleep(seconds) {
            assert(!hasEnded, "the test has ended");
            await sleep(seconds * 1000);
        },
    };
    return new SiwaClient({ url, apiKey: "siwa_development", clientId: APP, clock, ...options });
}

// One for all stories, because a start costs more than a story.
const dev = await siwaDev({ after });

test("a person's life", async (t) => {
    const { apple } = dev;
    const client = clientOf(t, dev);
    const folder = temporaryFolder(t);
    writeFileSync(`${folder}/cursor`, "7000000\n"); // of another database
    const backend = new Backend(client, folder);
    await until(() => Number(backend.feed.cursor ?? Infinity) < 7_000_000);
    assert.deepEqual(backend.events, ["resync"]);

    // The first sign-in, on the iPhone. The nonce is good for one sign-in.
    const ada = await apple.person({ first_name: "Ada", last_name: "King", hide_email: true });
    const form = await apple.signIn(ada, await client.makeNonce());
    const { account, is_new_account: isNew } = await backend.signIn(form);
    assert(isNew && account.first_name === "Ada" && account.is_private_email && account.created_at instanceof Date);
    const used = await refusal(client.signIn(form));
    assert.deepEqual([used.code, used.status, used.forApp().status], ["nonce_used", 401, 401]);
    assert(used.requestId);
    assert.equal((await client.state(ada)).state, "authorized");
    assert.deepEqual((await client.states([ada, "stranger"])).map(({ state }) => state), ["authorized", "notFound"]);
    assert.equal((await client.account(account.id)).sub, ada);
    assert.equal((await client.accountOf(ada)).id, account.id);
    assert.deepEqual((await client.findAccounts({ name: "Ada King" })).accounts.map(({ id }) => id), [account.id]);
    assert.equal((await client.verify(await apple.signIn(ada, await client.makeNonce()))).identity.sub, ada);

    // She stops using the app: the event ends her session.
    await apple.revokeConsent(ada);
    await until(() => !backend.sessions.has(account.id));
    assert.equal((await client.state(ada)).state, "revoked");

    // She returns. Apple's times have whole seconds, and the new authorization must be later.
    await sleep(2000);
    assert.equal((await backend.signIn(await apple.signIn(ada, await client.makeNonce()))).account.id, account.id);
    assert(backend.sessions.has(account.id));

    // Her account is disabled and enabled. Then she is signed out everywhere.
    assert.equal((await client.disable(account.id, "security")).disabled.reason, "security");
    const disabled = await refusal(client.signIn(await apple.signIn(ada, await client.makeNonce())));
    assert.equal(JSON.stringify(disabled.forApp()), '{"status":403,"json":{"error":"account_disabled"}}');
    assert.equal((await client.enable(account.id)).disabled, undefined);
    assert((await client.signOut(account.id)).sessions_ended_at);
    await until(() => !backend.sessions.has(account.id));

    // She deletes her account.
    const erasure = await client.delete(account.id);
    await until(async () => (await client.erasure(erasure.id)).state === "completed");
    assert.equal((await client.delete(account.id)).id, erasure.id);
    assert(!erasure.user_must_revoke);
    assert.equal((await refusal(client.account(account.id))).code, "account_not_found");
    await until(() => backend.events.includes("account_erased"));
    assert.deepEqual(backend.events, [
        "resync", "account_created", "credential_authorized", "credential_revoked", "credential_authorized",
        "account_disabled", "account_enabled", "sessions_ended", "credential_revoked", "account_erased"]);
    assert.equal(backend.failure, undefined);
    assert.equal((await refusal(clientOf(t, dev, { apiKey: "other" }).makeNonce())).forApp().status, 500);
});

test("tokens and links", async (t) => {
    const { apple, google, url } = dev;
    const client = clientOf(t, dev);
    const ada = await apple.person({ first_name: "Ada" });
    const { account, credential } = await client.signIn(await apple.signIn(ada, await client.makeNonce()));

    // Her phone exchanges an identity token for an access token (RFC 8693).
    const form = await apple.signIn(ada, await client.makeNonce());
    const exchange = await fetch(`${url}/oauth/token`, { method: "POST", body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange", client_id: "siwa-phone", scope: "openid email",
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token", subject_token: form.identity_token,
        nonce: form.nonce }) });
    const tokens = await exchange.json();
    const bearer = `Bearer ${tokens.access_token}`;
    const token = await client.verifyToken(bearer, url, ["email"]);
    assert.equal(token.sub, account.id);
    assert.deepEqual(token, await client.introspect(bearer, url, ["email"]));
    assert.equal((await refusal(client.verifyToken(bearer, url, ["admin"]))).code, "scope_missing");
    assert.equal((await refusal(client.verifyToken(bearer, "https://other", ["email"]))).code, "audience_mismatch");
    assert.equal((await refusal(client.verifyToken(`Bearer ${tokens.id_token}`, url))).code, "not_an_access_token");
    assert.equal((await refusal(client.introspect(`Bearer ${tokens.refresh_token}`, url))).code, "token_inactive");

    // Her phone attests a key.
    const { challenge } = await client.makeChallenge("attestation");
    const registration = await post(`${apple.url}/app-attest/keys?format=registration`, { challenge });
    assert((await client.registerKey(registration)).is_new_key);
    const refused = await refusal(client.registerKey({ ...registration, key_id: Buffer.alloc(32).toString("base64") }));
    const { cause, reAttest: re_attest } = refused;
    assert.deepEqual(refused.forApp(), { status: 401, json: { error: "attestation_invalid", cause, re_attest } });
    assert(typeof cause === "string" && typeof re_attest === "boolean");

    // She links her Google account by App Flip, and ends the link in the app.
    const link = Object.fromEntries(new URL((await post(`${google}/link`, { mode: "app_flip" })).url).searchParams);
    const session = { accountId: account.id, authenticatedAt: credential.since };
    assert((await client.appFlipPrompt(link, session)).prompt.account.title);
    assert.equal((await client.appFlip({ ...link, decision: "granted" }, session)).outcome, "code");
    const { id } = (await client.grants(account.id)).find(({ client_id }) => client_id === "google");
    await client.endGrant(account.id, id);
    assert.equal((await refusal(client.endGrant(account.id, id))).code, "grant_not_found");

    // After a withdrawn consent siwa knows at once. A verified token stays good until it expires.
    await apple.revokeConsent(ada);
    await until(async () => (await client.state(ada)).state === "revoked");
    assert.equal((await refusal(client.introspect(bearer, url))).code, "token_inactive");
    assert.equal((await client.verifyToken(bearer, url)).sub, account.id);
});

test("forms of libraries", async (t) => {
    const client = clientOf(t, dev);
    const shapes = [
        (form) => ({ fullName: { givenName: "Ada", familyName: "Lovelace", middleName: null }, user: "sub", ...form }),
        (form) => ({ givenName: "Ada", familyName: "Lovelace", userIdentifier: "sub", email: null, ...form }),
        (form) => ({ response: { givenName: "Ada", familyName: "Lovelace", user: "sub", ...form } }),
    ];
    for (const shape of shapes) {
        const nonce = await client.makeNonce();
        const posted = await dev.apple.signIn(await dev.apple.person({ first_name: "X" }), nonce);
        const form = shape({ identityToken: posted.identity_token, authorizationCode: posted.authorization_code });
        const { account } = await client.signIn({ ...form, nonce: nonce.nonce });
        assert.deepEqual([account.first_name, account.last_name], ["Ada", "Lovelace"]);
    }
});

test("a webhook", async (t) => {
    // siwa as a service of its own, which posts its events to a receiver with the package.
    const secrets = [1, 2].map(() => `whsec_${randomBytes(32).toString("base64")}`);
    const [port, applePort] = await freePorts(2);
    const [url, apple, folder] = [`http://127.0.0.1:${port}`, new Apple(applePort), temporaryFolder(t)];
    const apiKey = "siwa_of_a_test_0123456789";
    const client = clientOf(t, { url }, { apiKey, webhookSecrets: secrets.join(" ") });
    const received = [];
    const webhook = expressWebhook(client, (event) => void received.push(event));
    const receiver = createServer((request, response) =>
        webhook(request, response, (error) => expressErrors(error, request, response, t.diagnostic)));
    await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    t.after(() => ended(receiver));
    const secretFile = `${folder}/secret`;
    writeFileSync(secretFile, secrets[1]);
    chmodSync(secretFile, 0o600);
    const receiverURL = `http://127.0.0.1:${receiver.address().port}/siwa`;
    writeFileSync(`${folder}/siwa.yaml`,
        `webhooks:\n  - name: backend\n    url: ${receiverURL}\n    secret_files: [${secretFile}]\n`);
    await new Program(t, apple.url, SIWA_DEV, [
        "emulate", "--port", String(applePort), "--client-id", APP, "--signing-key-file", `${folder}/AuthKey_ABC123DEFG.p8`,
        "--notification-url", `${url}/v1/apple/notifications`]).start();
    await new Program(t, `${url}/livez`, SIWA, ["serve"], {
        PATH: process.env.PATH, SIWA_ENV: "development", SIWA_PORT: String(port), APPLE_TEAM_ID: "SIWADEV000",
        APPLE_CLIENT_IDS: APP, APPLE_BASE_URL: `http://127.0.0.1:${applePort}`, SIWA_CONFIG: `${folder}/siwa.yaml`,
        DATABASE_URL: `sqlite://${folder}/siwa.sqlite`,
        SIWA_API_KEY_HASHES: `backend=${createHash("sha256").update(apiKey).digest("hex")}`,
    }).start();
    const ada = await apple.person();
    const { account, credential } = await client.signIn(await apple.signIn(ada, await client.makeNonce()));
    await apple.revokeConsent(ada);
    await until(() => received.length === 3);
    assert.deepEqual(received.map(({ type }) => type), ["account_created", "credential_authorized", "credential_revoked"]);
    const { account_id, occurred_at, reason } = received[2];
    assert(account_id === account.id && occurred_at >= credential.since && reason === "consent_revoked");
});

// The last story, because it stops the siwa of all stories.
test("siwa stops and returns", async (t) => {
    const logger = { info() {}, warn() {} };
    const client = clientOf(t, dev, { logger });
    const hasty = clientOf(t, dev, { timeoutSeconds: 1, attempts: 1, logger });
    const backend = new Backend(client, temporaryFolder(t));
    const ada = await dev.apple.person();
    const { account } = await backend.signIn(await dev.apple.signIn(ada, await client.makeNonce()));
    await until(() => backend.events.includes("credential_authorized"));

    dev.program.process.kill("SIGSTOP");
    // The signal can come later than the next request.
    await until(() => execFileSync("ps", ["-o", "state=", "-p", String(dev.program.process.pid)]).toString().startsWith("T"));
    const began = Date.now();
    assert.equal((await refusal(hasty.makeNonce())).code, "unreachable");
    assert(Date.now() - began < 10_000);
    dev.program.process.kill("SIGCONT");
    assert((await client.makeNonce()).nonce);
    await dev.program.stop("SIGKILL");
    const error = await refusal(hasty.makeNonce());
    assert.equal(error.code, "unreachable");
    assert.deepEqual(error.forApp(), { status: 503, json: { error: "try_again" } });

    // The feed goes on where it was, and no event comes twice.
    await dev.program.start();
    await dev.apple.revokeConsent(ada);
    await until(() => backend.sessions.size === 0);
    assert.equal(backend.events.filter((type) => type === "credential_authorized").length, 1);
    await client.delete(account.id);
    await until(() => backend.events.includes("account_erased"));
    assert.equal(backend.failure, undefined);
});
