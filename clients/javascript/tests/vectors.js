// Plays one vector of Fixtures/clients, whose README.md describes the format.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { SiwaClient, SiwaError } from "siwa-client";
import { FOLDER } from "./siwa.js";

export const FIXTURES = `${FOLDER}../../Fixtures`;
export const FOLDERS = ["calls", "retries", "transport", "webhooks", "events", "tokens", "key-sets"];
const DEFAULTS = { api_key: "siwa_development", client_id: "com.example.app", issuer: "https://signin.example.com" };

const seconds = (text) => Date.parse(text) / 1000;
const camelCase = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** Shows the time of the vector, and does not wait. */
class VectorClock {
    waits = [];

    constructor(at) {
        this.time = seconds(at);
    }

    now() {
        return this.time;
    }

    async sleep(seconds) {
        this.waits.push(seconds);
        // An iterator whose request is wrong would ask for ever.
        assert(this.waits.length < 50, "too many pauses");
        this.time += seconds;
    }
}

class HandlerFailure extends Error {}

export function bodyOf({ body = "", body_parts: parts = [{ text: body }] }) {
    return new TextEncoder().encode(parts.map(({ text, times = 1 }) => text.repeat(times)).join(""));
}

let server, lines;

/** Sends a line to the process that plays siwa, until the tests end. */
async function ask(line) {
    if (!server) {
        server = spawn("python3", [`${FIXTURES}/clients/server.py`], { stdio: ["pipe", "pipe", "inherit"] });
        lines = createInterface(server.stdout)[Symbol.asyncIterator]();
    }
    server.stdin.write(`${line}\n`);
    return JSON.parse((await lines.next()).value);
}

after(() => server?.stdin.end());

/** Throws unless the client makes exactly the requests of the vector, with its results. */
export async function play(path) {
    const vector = JSON.parse(readFileSync(path, "utf8"));
    const port = await ask(path);
    for await (const [step, found, waits, warnings, took] of stepsOf(vector, `http://127.0.0.1:${port}`)) {
        const name = "error" in step ? "error" : "returns";
        for (const result of found) {
            const message = `${step.call}: expected ${name} ${JSON.stringify(step[name])}, found ${JSON.stringify(result)}`;
            assert(name in result && matches(step[name], result[name]), message);
        }
        assert.deepEqual(waits, step.waits ?? [], `${step.call}: waits`);
        assert(took < (step.within_seconds ?? 60), `${step.call}: ${took} s`);
        assert.equal(warnings, step.warnings ?? warnings, `${step.call}: warnings`);
    }
    assert.deepEqual(await ask(port), { verdict: "passed" });
}

async function* stepsOf(vector, url) {
    const clock = new VectorClock(vector.at);
    let warnings = 0;
    const logger = { info() {}, warn: () => warnings++ };
    const options = { ...DEFAULTS, ...vector.client };
    const named = Object.fromEntries(Object.entries(options).map(([name, value]) => [camelCase(name), value]));
    const client = new SiwaClient({ url, clock, logger, ...named });
    for (const step of vector.steps) {
        if (step.at) clock.time = seconds(step.at);
        clock.waits = [];
        warnings = 0;
        const began = performance.now();
        const calls = Array.from({ length: step.together ?? 1 }, () => resultOf(client, clock, step));
        yield [step, await Promise.all(calls), clock.waits, warnings, (performance.now() - began) / 1000];
    }
}

async function resultOf(client, clock, { call, arguments: given }) {
    try {
        const returns = call === "events" ? await traceOf(client, given) : await CALLS[call](client, given, clock);
        // Without a result the step lists an empty object.
        return { returns: JSON.parse(JSON.stringify(returns ?? null)) };
    } catch (error) {
        if (!(error instanceof SiwaError)) throw error;
        const { code, status, requestId: request_id, retryAfter: retry_after, cause, reAttest: re_attest } = error;
        return { error: { code, status, request_id, retry_after, cause, re_attest } };
    }
}

const session = ({ account_id: accountId, authenticated_at: authenticatedAt }) => ({ accountId, authenticatedAt });

const CALLS = {
    make_nonce: (client) => client.makeNonce(),
    sign_in: (client, { form, create, minted_nonce: mintedNonce }) => client.signIn(form, { create, mintedNonce }),
    verify: (client, { form, minted_nonce: mintedNonce }) => client.verify(form, { mintedNonce }),
    web_result: (client, { code }) => client.webResult(code),
    account: (client, { account_id }) => client.account(account_id),
    account_of: (client, { sub, client_id }) => client.accountOf(sub, client_id),
    find_accounts: (client, parameters) => client.findAccounts(parameters),
    state: (client, { sub, client_id }) => client.state(sub, client_id),
    states: (client, { subs, client_id }) => client.states(subs, client_id),
    disable: (client, { account_id, reason, until }) => client.disable(account_id, reason, until),
    enable: (client, { account_id }) => client.enable(account_id),
    sign_out: (client, { account_id, google }) => client.signOut(account_id, { google }),
    delete: (client, { account_id }) => client.delete(account_id),
    erasure: (client, { erasure_id }) => client.erasure(erasure_id),
    grants: (client, { account_id }) => client.grants(account_id),
    end_grant: (client, { account_id, grant_id }) => client.endGrant(account_id, grant_id),
    make_challenge: (client, { purpose }) => client.makeChallenge(purpose),
    register_key: (client, { form }) => client.registerKey(form),
    app_flip_prompt: (client, given) => client.appFlipPrompt(given.form, session(given)),
    app_flip: (client, given) => client.appFlip(given.form, session(given)),
    introspect: (client, { bearer, audience, scopes }) => client.introspect(bearer, audience, scopes),
    verify_token: (client, { bearer, audience, scopes }) => client.verifyToken(bearer, audience, scopes),
    verify_webhook: (_, { secrets, headers, ...message }, clock) =>
        new SiwaClient({ url: "http://unused", apiKey: "unused", webhookSecrets: secrets, clock })
            .verifyWebhook(headers, bodyOf(message)),
};

async function traceOf(client, { cursor, take, resync, fail_at: failAt }) {
    const trace = [];
    const store = {
        load() {
            trace.push("load");
            return cursor;
        },
        save: (cursor) => trace.push(`save ${cursor}`),
    };
    try {
        for await (const event of client.events(store, { resync: resync ? () => trace.push("resync") : undefined })) {
            if (event.id === failAt) throw new HandlerFailure();
            trace.push(event.id);
            if (trace.length >= take) break;
        }
    } catch (error) {
        if (!(error instanceof HandlerFailure)) throw error;
    }
    return trace;
}

function matches(wanted, found) {
    if (wanted === null) return (found ?? null) === null;
    if (Array.isArray(wanted)) {
        return Array.isArray(found) && wanted.length === found.length && wanted.every((each, at) => matches(each, found[at]));
    }
    if (typeof wanted !== "object") return wanted === found;
    return typeof found === "object" && found !== null
        && Object.entries(wanted).every(([name, value]) => matches(value, found[name]));
}
