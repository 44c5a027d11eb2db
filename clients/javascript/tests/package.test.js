// The options of the client, the frameworks, a siwa that lies, and the tools that keep the package in order.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { SiwaClient, SiwaError } from "siwa-client";
import { FileCursor } from "siwa-client/file-cursor";
import { expressErrors, expressRoute, expressToken, expressWebhook, fetchRoute, fetchWebhook } from "siwa-client/frameworks";
import { FIXTURES, play } from "./vectors.js";
import { APP, FOLDER, Program, ended, freePorts, post, siwaDev, temporaryFolder, until } from "./siwa.js";

const REFUSED = new SiwaError("token_expired", 401, "detail", { requestId: "r" });
const DOWN = new SiwaError("unreachable", undefined, "detail");
const SECRET = `whsec_${Buffer.alloc(32).toString("base64")}`;
const quiet = { info() {}, warn() {} };
const HEADERS = { "content-type": "application/json" };

/** A client whose requests the function answers. */
const clientWith = (answer, options) =>
    new SiwaClient({ url: "http://siwa", apiKey: "key", clientId: "app", attempts: 1, logger: quiet, fetch: answer, ...options });

const rejects = (promise, code) => assert.rejects(promise, (error) => error instanceof SiwaError && error.code === code);

/** The URL of a server with this handler, and the errors that the handler passed on. */
async function serve(t, handler) {
    const errors = [];
    const server = createServer((request, response) => {
        response.locals = {};
        handler(request, response, (error) => expressErrors(error, request, response, (other) => {
            errors.push(other);
            response.writeHead(500).end();
        }));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => ended(server));
    return { url: `http://127.0.0.1:${server.address().port}`, errors };
}

for (const options of [
    { url: "" }, { url: "siwa.internal" }, { url: "ftp://siwa" }, { url: "http://user:pw@siwa" }, { url: "http://siwa?x=1" },
    { apiKey: "" }, { apiKey: "a b" }, { apiKey: "a\r\nX: y" }, { apiKey: "\u00e9" },
    { webhookSecrets: "whsec_" }, { webhookSecrets: "secret" }, { webhookSecrets: "whsec_c2hvcnQ=" },
]) {
    test(`a malformed option: ${JSON.stringify(options)}`, () => {
        assert.throws(() => clientWith(fetch, options), (error) =>
            error instanceof TypeError && !/pw|X: y|c2hvcnQ/.test(error.message));
    });
}

test("missing options", async () => {
    assert.throws(() => clientWith(fetch, { url: "" }), /SIWA_URL is missing/);
    assert.throws(() => clientWith(fetch, { apiKey: "" }), /SIWA_API_KEY is missing/);
    const client = clientWith(fetch, { clientId: "" });
    await assert.rejects(client.state("sub"), /SIWA_CLIENT_ID is missing/);
    await assert.rejects(client.verifyWebhook({}, new Uint8Array()), /SIWA_WEBHOOK_SECRETS is missing/);
});

test("siwa is not running: the error and the first warning of the feed name the URL", async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const text = new RegExp(`no complete response from ${url} .*: is siwa running, and is SIWA_URL right\\?`);
    await assert.rejects(clientWith(fetch, { url }).makeNonce(), text);
    const warned = await new Promise((warn) =>
        void clientWith(fetch, { url, logger: { ...quiet, warn }, clock: { now: () => 0, sleep: () => new Promise(() => {}) } })
            .events({ load() {}, save() {} }).start());
    assert.match(warned, text);
});

test("options come from the environment", async (t) => {
    process.env.SIWA_URL = "http://siwa/below/";
    process.env.SIWA_API_KEY = "secret";
    t.after(() => ["SIWA_URL", "SIWA_API_KEY"].forEach((name) => delete process.env[name]));
    let seen;
    const answer = async (url, { headers }) => {
        seen = [url, headers.Authorization];
        throw new TypeError("fetch failed");
    };
    await rejects(new SiwaClient({ fetch: answer, attempts: 1 }).makeNonce(), "unreachable");
    assert.deepEqual(seen, ["http://siwa/below/v1/nonces", "Bearer secret"]);
});

test("many states are several requests", async () => {
    const sizes = [];
    const client = clientWith(async (_, { body }) => {
        const { subs } = JSON.parse(body);
        sizes.push(subs.length);
        return Response.json({ credentials: subs.map((sub) => ({ sub, client_id: "app", state: "notFound" })) });
    });
    const subs = Array.from({ length: 2001 }, (_, number) => String(number));
    assert.deepEqual((await client.states(subs)).map(({ sub }) => sub), subs);
    assert.deepEqual(sizes, [1000, 1000, 1]);
});

test("IDs never change the path", async () => {
    const client = clientWith(() => assert.fail("a request"));
    for (const id of ["", ".", ".."]) {
        await rejects(client.state(id), "credential_not_found");
        await rejects(client.erasure(id), "erasure_not_found");
        await rejects(client.endGrant("acc_1", id), "grant_not_found");
    }
    const paths = [];
    const recording = clientWith(async (url) => paths.push(url) && new Response(null, { status: 204 }));
    await recording.endGrant("acc_1", "a'(\ud800");
    assert.deepEqual(paths, ["http://siwa/v1/accounts/acc_1/grants/a%27%28%EF%BF%BD"]);
});

test("a cursor in a file", async (t) => {
    const folder = temporaryFolder(t);
    const store = new FileCursor(`${folder}/cursor`);
    assert.equal(await store.load(), undefined);
    await store.save("c1");
    await store.save("c2");
    assert.equal(await new FileCursor(`${folder}/cursor`).load(), "c2");
    assert.deepEqual(readdirSync(folder), ["cursor"]);
    writeFileSync(`${folder}/cursor`, " 7\r\n");
    assert.equal(await store.load(), "7");
    writeFileSync(`${folder}/cursor`, "\n");
    assert.equal(await store.load() || undefined, undefined);
});

test("siwa lies: a success without a body, members of the prototype, and a small body that becomes large", async (t) => {
    await rejects(clientWith(async () => new Response(null, { status: 204 })).account("acc_1"), "unexpected_response");
    const nonce = '{"__proto__":{"nonce":"n","nonce_sha256":"d","expires_at":"2026-03-14T09:30:00.000Z"}}';
    await rejects(clientWith(async () => new Response(nonce, { headers: HEADERS })).makeNonce(), "unexpected_response");
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "));
    const { url } = await serve(t, (_, response) => response.writeHead(200, { ...HEADERS, "content-encoding": "gzip" }).end(bomb));
    await rejects(clientWith(undefined, { url }).makeNonce(), "unexpected_response");
});

test("siwa lies: a pause of years does not become a request each millisecond", async (t) => {
    const pauses = [];
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (resolve, milliseconds) => void pauses.push(milliseconds) || setTimeout(resolve);
    t.after(() => globalThis.setTimeout = setTimeout);
    const answers = [new Response("", { status: 503, headers: { "retry-after": "999999999" } }), new Response("", { status: 404 })];
    const feed = clientWith(async () => answers.shift()).events({ load: () => "c1", save() {} });
    await rejects(feed[Symbol.asyncIterator]().next(), "unexpected_response");
    assert.deepEqual(pauses, [2 ** 31 - 1]);
});

test("a backend starts without siwa, but not with a wrong URL, key or client ID", async () => {
    const warnings = [];
    const check = (answer, options) =>
        clientWith(answer, { logger: { info() {}, warn: (text) => void warnings.push(text) }, ...options }).check();
    await check(async () => Response.json({ client_id: "app", state: "notFound" }));
    assert.deepEqual(warnings, []);
    for (const [code, status] of [["caller_unauthenticated", 401], ["client_id_unknown", 400]]) {
        await rejects(check(async () => Response.json({ code }, { status })), code);
    }
    await rejects(check(async () => new Response("no siwa", { status: 404 })), "unexpected_response");
    await assert.rejects(check(fetch, { clientId: "" }), TypeError);
    assert.deepEqual(warnings, []);
    await check(async () => new Response("", { status: 503 }));
    await check(async () => { throw new TypeError("fetch failed"); });
    assert.equal(warnings.length, 2);
});

test("an error of the cursor store ends the iteration", async () => {
    const page = { events: [], cursor: "c2", has_more: false };
    const feed = clientWith(async () => Response.json(page)).events({
        load: () => "c1",
        async save() {
            throw new RangeError("the database is full");
        },
    });
    await assert.rejects(feed[Symbol.asyncIterator]().next(), RangeError);
    assert.equal(feed.cursor, "c1");
    assert(feed.lastResponseAt instanceof Date);
});

test("a feed that is started goes on after an error of the handler, and without a handler it only begins", async () => {
    const event = { id: "evt_1", type: "a", team_id: "t", occurred_at: new Date(0), recorded_at: new Date(0) };
    const [queries, seen, pauses] = [[], [], []];
    let cursor;
    const client = clientWith(async (url) => {
        queries.push(new URL(url).search);
        return Response.json({ events: cursor ? [event] : [], cursor: cursor ? "c2" : "c1", has_more: false });
    }, { clock: { now: () => 0, sleep: async (seconds) => void pauses.push(seconds) } });
    const feed = client.events({ load: () => cursor, save: (text) => cursor = text });
    assert.throws(() => feed.check(), { code: "feed_not_begun", status: 503 });
    await feed.start();
    feed.check();
    assert.deepEqual(queries, ["?after=latest"]);
    await new Promise((resolve) => void feed.start(({ id }) => {
        seen.push(id);
        if (seen.length === 1) throw new RangeError("the database is full");
        resolve();
        return new Promise(() => {}); // so that the feed ends with the test
    }));
    assert.deepEqual([seen, pauses, cursor], [["evt_1", "evt_1"], [2], "c1"]);
    assert.deepEqual(queries.slice(1), ["?after=c1&wait=30", "?after=c1&wait=30"]);
});

test("a cursor that was damaged ends the feed, and the backend accepts no sign-in", async () => {
    const client = clientWith(async () => Response.json({ code: "parameter_malformed" }, { status: 400 }), {
        clock: { now: () => 0, sleep: () => assert.fail("the feed is read again") } });
    const feed = client.events({ load: () => "seven", save() {} });
    await feed.start(() => {});
    assert.throws(() => feed.check(), { code: "feed_not_begun" });
});

test("missed events stand for the states", async () => {
    const since = "2026-03-14T09:30:00.000Z";
    const credentials = [
        { sub: "a", state: "authorized", since }, { sub: "b", state: "revoked", since, account_disabled: true },
        { sub: "c", state: "revoked", reason: "apple_account_deleted", since },
        { sub: "d", state: "notFound", reason: "erased", since }, { sub: "e", state: "notFound" }, { sub: "f", state: "notFound" },
    ].map((credential) => ({ client_id: "app", ...credential }));
    const client = clientWith(async () => Response.json({ credentials }));
    const users = new Map(credentials.map(({ sub }) => [sub, { accountId: `acc_${sub}` }]));
    users.set("e", { accountId: "acc_e", since: new Date(0) });
    const events = await client.missedEvents(users);
    assert.deepEqual(events.map(({ sub, type }) => `${sub} ${type}`), [
        "a account_enabled", "b account_disabled", "b credential_revoked", "c account_enabled", "c account_deleted",
        "d account_enabled", "d account_erased", "e account_enabled", "e credential_revoked", "f account_enabled"]);
    assert.deepEqual([events[2].occurred_at, events[8].occurred_at], [new Date(since), new Date(0)]);
    assert(events.every(({ sub, account_id, client_id }) => account_id === `acc_${sub}` && client_id === "app"));
});

test("errors in Express", async (t) => {
    const route = expressRoute(async ({ url }) => {
        throw { "/refused": REFUSED, "/down": DOWN }[url] ?? new RangeError("another error");
    });
    const { url, errors } = await serve(t, route);
    const refused = await fetch(`${url}/refused`);
    assert.deepEqual([refused.status, await refused.text()], [401, '{"error":"token_expired"}']);
    assert.equal(refused.headers.get("cache-control"), "no-store");
    t.mock.method(console, "error", () => {});
    const down = await fetch(`${url}/down`);
    assert.deepEqual([down.status, down.headers.get("retry-after"), await down.json()], [503, "1", { error: "try_again" }]);
    assert.equal(console.error.mock.callCount(), 1);
    assert.equal((await fetch(url)).status, 500);
    assert(errors[0] instanceof RangeError);
});

test("access tokens in Express", async (t) => {
    const client = {
        async verifyToken(bearer, audience, scopes) {
            if (bearer !== "Bearer t") throw new SiwaError("token_missing", 401, "detail");
            return { audience, scopes };
        },
    };
    const middleware = expressToken(client, "https://api", "email");
    const { url } = await serve(t, (request, response, next) => middleware(request, response, (error) =>
        error ? next(error) : response.end(JSON.stringify(response.locals.token))));
    const passed = await fetch(url, { headers: { authorization: "Bearer t" } });
    assert.deepEqual(await passed.json(), { audience: "https://api", scopes: ["email"] });
    assert.deepEqual(await (await fetch(url)).json(), { error: "token_missing" });
});

/** A signed message of the webhook in the fixtures. */
function message() {
    const path = join(FOLDER, "../../Fixtures/webhooks/accepted.json");
    const { secrets: webhookSecrets, at, headers, body } = JSON.parse(readFileSync(path, "utf8"));
    const clock = { now: () => Date.parse(at) / 1000 };
    return { client: clientWith(fetch, { webhookSecrets, clock }), request: { method: "POST", headers, body } };
}

test("webhooks in Express", async (t) => {
    const { client, request } = message();
    const ids = [];
    const { url, errors } = await serve(t, expressWebhook(client, ({ id }) => {
        ids.push(id);
        if (ids.length === 2) throw new RangeError("the database is full");
    }));
    assert.equal((await fetch(url, request)).status, 204);
    assert.equal((await fetch(url, request)).status, 500);
    assert.deepEqual(ids, Array(2).fill(request.headers["webhook-id"]));
    assert(errors[0] instanceof RangeError);
    const changed = await fetch(url, { ...request, body: `${request.body} ` });
    assert.deepEqual([changed.status, await changed.json()], [401, { error: "webhook_signature_invalid" }]);
    const large = await fetch(url, { ...request, body: "x".repeat(1_000_000) });
    assert.deepEqual([large.status, await large.json()], [413, { error: "body_too_large" }]);

    const afterParser = await serve(t, async (incoming, response, next) => {
        for await (const _ of incoming); // as express.json() reads the body
        expressWebhook(client, () => {})(incoming, response, next);
    });
    assert.equal((await fetch(afterParser.url, request)).status, 500);
    assert.match(afterParser.errors[0].message, /before express.json/);
});

test("thousands of invented signatures cost no more than one", async (t) => {
    const client = clientWith(undefined, { webhookSecrets: SECRET, clock: { now: () => 0 } });
    const headers = { "webhook-id": "e", "webhook-timestamp": "0", "webhook-signature": "v1,AAAA ".repeat(20_000) };
    const sign = t.mock.method(crypto.subtle, "sign");
    await rejects(client.verifyWebhook(headers, new Uint8Array(65_536)), "webhook_signature_invalid");
    assert.equal(sign.mock.callCount(), 1);
});

test("handlers of the Fetch API", async () => {
    const { client, request } = message();
    const ids = [];
    const webhook = fetchWebhook(client, ({ id }) => void ids.push(id));
    assert.equal((await webhook(new Request("http://backend/siwa", request))).status, 204);
    assert.deepEqual(ids, [request.headers["webhook-id"]]);
    const large = await webhook(new Request("http://backend/siwa", { ...request, body: "x".repeat(1_000_000) }));
    assert.deepEqual([large.status, await large.json()], [413, { error: "body_too_large" }]);
    const route = fetchRoute(async (_, params) => {
        if (params.id === "1") throw REFUSED;
        throw new RangeError("another error");
    });
    const refused = await route(new Request("http://backend"), { id: "1" });
    assert.deepEqual([refused.status, await refused.json()], [401, { error: "token_expired" }]);
    await assert.rejects(route(new Request("http://backend"), { id: "2" }), RangeError);
});

test("the runner of the vectors finds a changed request and a changed result", async (t) => {
    const path = `${temporaryFolder(t)}/vector.json`;
    const vector = readFileSync(`${FIXTURES}/clients/calls/account.json`, "utf8");
    for (const [from, to] of [["siwa_development", "other"], ["returns", "error"], ["Ada", "Bob"]]) {
        assert(vector.includes(from), from);
        writeFileSync(path, vector.replace(from, to));
        await assert.rejects(play(path), assert.AssertionError);
    }
});

// These are about files. With Node.js once is enough.
const skip = "Deno" in globalThis;

test("types: the sources, the declarations, and a user's program", { skip }, (t) => {
    const folder = temporaryFolder(t);
    const tsc = (...options) => assert.equal(spawnSync("tsc", options, { cwd: FOLDER, encoding: "utf8" }).stdout, "");
    tsc("--outDir", folder);
    const files = (path) => Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`, "utf8")]));
    assert.deepEqual(files(`${FOLDER}/types`), files(folder), "run: npm run types");
    tsc("-p", "tests");
});

test("models are those of the OpenAPI document", { skip }, () => {
    execFileSync("../../scripts/client-models", ["--check"], { cwd: FOLDER, stdio: "inherit" });
});

test("the page: its first program as a process, its second as a server", async (t) => {
    const dev = await siwaDev(t);
    const folder = temporaryFolder(t);
    const [trial, application] = [...readFileSync(`${FOLDER}/README.md`, "utf8").matchAll(/```js\n(.*?)```/gs)].map(([, text]) => text);
    mkdirSync(`${folder}/node_modules`);
    symlinkSync(FOLDER, `${folder}/node_modules/siwa-client`);
    // EXPRESS names the folder of the real Express, if there is one.
    const express = process.env.EXPRESS ?? `${FOLDER}tests/express`;
    symlinkSync(express, `${folder}/node_modules/express`);
    const source = `${FOLDER}src`;
    writeFileSync(`${folder}/deno.json`, JSON.stringify({ imports: {
        "siwa-client": `${source}/index.js`, "siwa-client/file-cursor": `${source}/file-cursor.js`,
        "siwa-client/frameworks": `${source}/frameworks.js`, express: `${express}/index.js` } }));
    writeFileSync(`${folder}/trial.mjs`, trial);
    writeFileSync(`${folder}/application.mjs`, application);
    const APPLE = new URL(dev.apple.url).origin;
    const { stdout } = await promisify(execFile)(process.execPath, ["trial.mjs"], {
        cwd: folder, timeout: 60_000, env: { ...process.env, SIWA_URL: dev.url, APPLE } });
    const lines = stdout.trim().split("\n").map((line) => line.split(":")[0]);
    assert.deepEqual(lines, ["Signed in", "The session has ended. State", "Deleted"]);

    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const settings = { ...process.env, PORT: String(port), SIWA_URL: dev.url, SIWA_API_KEY: "siwa_development", SIWA_CLIENT_ID: APP };
    const program = new Program(t, `${url}/ready`, process.execPath, ["application.mjs"], settings, folder);
    writeFileSync(`${folder}/cursor.txt`, "999"); // so that it calls resync
    await program.start();
    const nonce = await post(`${url}/nonce`);
    const ada = await dev.apple.person();
    const form = await dev.apple.signIn(ada, nonce);
    const { session: authorization, account_id } = await post(`${url}/signin`, form);
    assert.match(account_id, /^acc_/);
    const isSignedIn = async () => (await fetch(`${url}/me`, { headers: { authorization } })).status === 204;
    assert(await isSignedIn());
    const again = await fetch(`${url}/signin`, { method: "POST", headers: HEADERS, body: JSON.stringify(form) });
    assert.deepEqual([again.status, await again.json()], [401, { error: "nonce_used" }]);
    await dev.apple.revokeConsent(ada);
    await until(async () => !await isSignedIn());

    // The same program with webhooks.
    await program.stop("SIGTERM");
    program.environment = { ...settings, SIWA_WEBHOOK_SECRETS: SECRET };
    await program.start();
    assert.equal((await fetch(`${url}/siwa`, { method: "POST", body: "{}" })).status, 400);
});
