import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { after, before, beforeEach, test } from "node:test";
import { makeHandler } from "./handler.mjs";

let program, apple, server, backend;

before(async () => {
    program = spawn("siwa-dev", ["emulate", "--port", "0", "--client-id", "com.example.app"]);
    process.once("exit", () => program.kill());
    // The default action of a signal ends the process without the event above.
    for (const s of ["SIGINT", "SIGTERM"]) process.once(s, () => process.exit(1));
    for await (const line of createInterface({ input: program.stderr })) {
        const port = line.match(/listening on .*:(\d+)/)?.[1];
        if (port) {
            apple = `http://127.0.0.1:${port}`;
            break;
        }
    }
    assert(apple, "siwa-dev has not started");
    program.stderr.resume();
    program.stdout.resume();
});

beforeEach(async () => {
    await control("POST", "/reset");
    server?.close();
    server = createServer(makeHandler({ clientID: "com.example.app", apple })).listen(0, "127.0.0.1");
    await once(server, "listening");
    backend = `http://127.0.0.1:${server.address().port}`;
    await control("PUT", "/notification-url", { url: `${backend}/apple/notifications` });
});

after(async () => {
    server?.close();
    program.kill();
    await once(program, "exit");
});

// A call of the fake's control API.
function control(method, path, body) {
    return call(method, `${apple}/emulator${path}`, body);
}

async function call(method, url, body, headers = {}) {
    const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    return { status: response.status, ...(await response.json()) };
}

// Signs in on the iPhone, with changes to the token, and posts the token to the backend.
async function signIn(sub = "default", forgery = {}) {
    const { nonce } = await call("POST", `${backend}/nonce`);
    const hash = createHash("sha256").update(nonce).digest("hex");
    const { identity_token } = await control("POST", "/identity-tokens", { sub, nonce: hash, ...forgery });
    return call("POST", `${backend}/sign-in`, { identity_token, nonce });
}

function me(session) {
    return call("GET", `${backend}/me`, undefined, { authorization: `Bearer ${session}` });
}

test("a person signs in", async () => {
    const ada = await control("POST", "/users", { first_name: "Ada" });
    const { session } = await signIn(ada.sub);
    assert.equal((await me(session)).sub, ada.sub);
});

for (const [error, forgery] of [
    ["algorithm", { alg: "none" }],
    ["signature", { signature: "wrong_key" }],
    ["issuer", { claims: { iss: "https://example.com" } }],
    ["audience", { client_id: "com.other.app" }],
    ["expired", { time_offset: -172800 }],
    ["nonce", { nonce: "another" }],
]) {
    test(`a token is refused: ${error}`, async () => {
        assert.deepEqual(await signIn("default", forgery), { status: 401, error });
    });
}

test("a revocation ends the session", async () => {
    const { session } = await signIn();
    const { notifications } = await control("POST", "/users/default/revoke-consent");
    assert.equal(notifications[0].delivery.status, 200);
    assert.equal((await me(session)).status, 401);
});

test("Apple rotates its keys", async () => {
    await signIn();
    await control("POST", "/keys/rotate");
    assert.equal((await signIn()).status, 200);
});

test("Apple's keys cannot be fetched, and then they can", async () => {
    await control("PUT", "/faults/keys", { status: 503, times: 1 });
    assert.equal((await signIn()).status, 503);
    assert.equal((await signIn()).status, 200);
});
