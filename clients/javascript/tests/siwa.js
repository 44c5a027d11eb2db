// siwa and its fakes for the tests: the program that SIWA_BINARY names, or that of `swift build`, and siwa-dev beside it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { webcrypto } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

globalThis.crypto ??= webcrypto; // Node.js 18

export const FOLDER = fileURLToPath(new URL("..", import.meta.url));
export const SIWA = process.env.SIWA_BINARY ?? join(FOLDER, "../../.build/debug/siwa");
export const SIWA_DEV = join(dirname(SIWA), "siwa-dev");
export const APP = "com.example.app";

/** Ports at which nothing listens. Those that the kernel chooses could go to another program before ours starts. */
export async function freePorts(count) {
    const ports = [];
    while (ports.length < count) {
        const port = 10_000 + Math.floor(Math.random() * 22_000);
        const server = createServer();
        const isFree = await new Promise((resolve) =>
            server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)));
        if (isFree) {
            ports.push(port);
            await new Promise((resolve) => server.close(resolve));
        }
    }
    return ports;
}

/** Calls a fake. Returns its JSON. */
export async function post(url, members = {}) {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(members) });
    assert(response.ok, `${url}: ${response.status}`);
    return response.json();
}

export async function until(condition) {
    for (const deadline = Date.now() + 60_000; !await condition(); await sleep(50)) {
        assert(Date.now() < deadline, "it did not happen within 60 s");
    }
}

/** Closes a server of node:http. */
export async function ended(server) {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
}

const programs = [];

/** A folder that is removed after the test, when the programs that write to it have ended. */
export function temporaryFolder(test) {
    const folder = mkdtempSync(join(tmpdir(), "siwa-client-"));
    test.after(async () => {
        await Promise.all(programs.filter((program) => program.test === test).map((program) => program.stop("SIGTERM")));
        rmSync(folder, { recursive: true });
    });
    return folder;
}

/** A process that serves HTTP until the end of the test, or of all tests. */
export class Program {
    constructor(test, readyURL, file, arguments_, environment = process.env, folder = undefined) {
        Object.assign(this, { test, readyURL, file, arguments_, environment, folder });
        programs.push(this);
        test.after(() => this.stop("SIGTERM"));
    }

    async start() {
        let output = "";
        this.process = spawn(this.file, this.arguments_, { cwd: this.folder, env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
        this.ended = new Promise((resolve) => this.process.once("exit", resolve));
        for (const stream of [this.process.stdout, this.process.stderr]) stream.on("data", (bytes) => output += bytes);
        for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
            assert(Date.now() < deadline && this.process.exitCode === null, `${this.file} did not start: ${output}`);
            const response = await fetch(this.readyURL).catch(() => undefined);
            await response?.body?.cancel();
            if (response?.status < 500) return this;
        }
    }

    async stop(signal) {
        this.process?.kill(signal);
        this.process?.kill("SIGCONT");
        await this.ended;
    }
}

/** The fake Apple. */
export class Apple {
    constructor(port) {
        this.url = `http://127.0.0.1:${port}/emulator`;
    }

    async person(members) {
        return (await post(`${this.url}/users`, members)).sub;
    }

    /** What the app posts to its backend after a sign-in on the iPhone. */
    async signIn(sub, { nonce, nonce_sha256 }) {
        return { ...await post(`${this.url}/identity-tokens?format=sign-in`, { sub, code: true, nonce: nonce_sha256 }), nonce };
    }

    revokeConsent(sub) {
        return post(`${this.url}/users/${sub}/revoke-consent`);
    }
}

/** `siwa dev`: the service, the fake Apple, the fake Google. */
export async function siwaDev(test) {
    const [port, applePort, googlePort, receivers] = await freePorts(4);
    const url = `http://127.0.0.1:${port}`;
    const program = new Program(test, `${url}/readyz`, SIWA_DEV, [
        "dev", "--port", port, "--emulator-port", applePort, "--google-port", googlePort, "--receiver-port", receivers,
        "--database", `sqlite://${temporaryFolder(test)}/dev.sqlite`].map(String));
    await program.start();
    return { url, program, apple: new Apple(applePort), google: `http://127.0.0.1:${googlePort}/control` };
}
