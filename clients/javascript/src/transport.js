// HTTP to siwa: time limits, bounds and repetitions.
import { boundedBytes, jsonObject } from "./decoding.js";
import { SiwaError } from "./errors.js";

export const VERSION = "0.1.0";
/** The version of siwa's interface that this package was written for. */
export const API_VERSION = 1;
/** Bytes of a body. siwa's longest response, a page of 1,000 events, has about 1 MB. */
const LONGEST_RESPONSE = 4 * 1024 * 1024;
/** Seconds. A call waits no longer for a repetition: the caller gets the error with `retryAfter` in its place. */
const LONGEST_PAUSE = 5;

/**
 * The time and the pauses of a client. Tests replace it.
 * @typedef {object} Clock
 * @property {() => number} now  Seconds since 1970.
 * @property {(seconds: number) => Promise<void>} sleep  Resolves after so many seconds.
 */

/** @type {Clock} */
export const systemClock = {
    now: () => Date.now() / 1000,
    // A timer with more than 31 bits ends at once, and the next attempt would follow without a pause.
    sleep: (seconds) => new Promise((resolve) => setTimeout(resolve, Math.min(seconds * 1000, 2 ** 31 - 1))),
};

/**
 * Takes the messages of the package, such as `console` or a logger of pino.
 * @typedef {object} Logger
 * @property {(message: string) => void} info  A call is repeated.
 * @property {(message: string) => void} warn  Somebody should look.
 */

/**
 * @typedef {object} CallOptions
 * @property {string} [body]
 * @property {string} [contentType]
 * @property {boolean} [canRepeat]  A second execution changes nothing. Otherwise the call is repeated only if it was
 *   certainly not executed.
 * @property {boolean} [hasKey]
 * @property {number} [timeoutSeconds]
 * @property {number} [attempts]
 */

/** Never follows a redirect, so the key reaches only siwa. */
export class Transport {
    #url;
    #authorization;
    #defaults;
    #fetch;
    #isVersionKnown = false;

    /** @param {import("./client.js").ClientOptions & { url: string, apiKey: string }} options */
    constructor({ url, apiKey, clock, logger, timeoutSeconds = 12, attempts = 3, fetch = globalThis.fetch }) {
        if (!url || !apiKey) throw new TypeError(`${url ? "SIWA_API_KEY" : "SIWA_URL"} is missing: set it, or use the option`);
        // The messages repeat neither the key nor the URL, which may contain a password.
        if (!/^[!-~]+$/.test(apiKey)) throw new TypeError("the API key must be visible ASCII characters: set SIWA_API_KEY");
        const parts = /** @type {any} */ (URL).canParse(url) ? new URL(url) : undefined; // unknown to TypeScript 4.8
        if (!parts || !/^https?:$/.test(parts.protocol) || parts.search || parts.hash || parts.username || parts.password) {
            throw new TypeError("the URL of siwa must be like https://siwa.internal, without password and query: set SIWA_URL");
        }
        this.#url = parts.origin + parts.pathname.replace(/\/+$/, "");
        this.#authorization = `Bearer ${apiKey}`;
        this.#defaults = { timeoutSeconds, attempts };
        this.#fetch = fetch;
        this.clock = clock ?? systemClock;
        /** @type {Logger} */
        this.logger = logger ?? { info() {}, warn: console.warn };
    }

    /**
     * The JSON of a successful response, undefined without a body. Throws SiwaError.
     * @param {string} method
     * @param {string} target
     * @param {CallOptions} [options]
     * @returns {Promise<any>}
     */
    async call(method, target, options = {}) {
        const { body, contentType = "application/json", canRepeat = true, hasKey = true } = options;
        const { timeoutSeconds, attempts } = { ...this.#defaults, ...options };
        /** @type {Record<string, string>} */
        const headers = { "User-Agent": `siwa-client-javascript/${VERSION}`, Accept: "application/json" };
        if (hasKey) headers.Authorization = this.#authorization;
        if (body !== undefined) headers["Content-Type"] = contentType;
        for (let attempt = 1; ; attempt++) {
            try {
                // @ts-ignore: unknown to TypeScript 4.8.
                const signal = AbortSignal.timeout(timeoutSeconds * 1000);
                const fetch = this.#fetch; // in some runtimes it must not be a method of another object
                const response = await fetch(this.#url + target, { method, headers, body, redirect: "manual", signal });
                return this.#result(response, await boundedBytes(response.body, LONGEST_RESPONSE));
            } catch (/** @type {any} */ thrown) {
                // The constructor has refused a URL with a password.
                const reason = `no complete response from ${this.#url} (${thrown?.cause?.code ?? thrown?.name}): `
                    + "is siwa running, and is SIWA_URL right?";
                const error = thrown instanceof SiwaError ? thrown : new SiwaError("unreachable", undefined, reason);
                const pause = error.retryAfter ?? attempt;
                const wasRefused = isWithoutConnection(thrown) || error.code === "overloaded" || error.status === 429;
                if (attempt >= attempts || !error.isTemporary || pause > LONGEST_PAUSE || !(canRepeat || wasRefused)) throw error;
                // Without the path, which contains IDs of people.
                this.logger.info(`siwa-client: a call failed (${error.message}); attempt ${attempt + 1} follows in ${pause} s`);
                await this.clock.sleep(pause);
            }
        }
    }

    /**
     * @param {Response} response
     * @param {Uint8Array} bytes
     */
    #result(response, bytes) {
        const { status, headers } = response;
        this.#checkVersion(headers.get("siwa-api-version") ?? "");
        if (status === 204) return undefined;
        const kind = (headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
        const isJSON = ["application/json", "application/problem+json"].includes(kind);
        const value = (isJSON && bytes.length <= LONGEST_RESPONSE && jsonObject(bytes)) || {};
        if (status >= 200 && status < 300 && Object.keys(value).length > 0) return value;
        let { code = value.error, detail, cause, re_attest: reAttest } = value; // `error` is OAuth's form (RFC 6749 §5.2)
        if (status < 400 || typeof code !== "string") {
            code = status >= 500 || status === 429 ? "unavailable" : "unexpected_response";
            detail = undefined;
        }
        const retryAfter = headers.get("retry-after") ?? "";
        throw new SiwaError(code, status, String(detail || `the response is not siwa's (${kind})`), {
            requestId: headers.get("x-request-id") ?? undefined,
            retryAfter: /^[1-9][0-9]{0,8}$/.test(retryAfter) ? Number(retryAfter) : undefined,
            cause: typeof cause === "string" ? cause : undefined,
            reAttest: typeof reAttest === "boolean" ? reAttest : undefined,
        });
    }

    /** @param {string} version */
    #checkVersion(version) {
        if (this.#isVersionKnown || !/^[0-9]{1,9}$/.test(version)) return;
        this.#isVersionKnown = true;
        if (Number(version) === API_VERSION) return;
        const old = Number(version) > API_VERSION ? "siwa-client" : "siwa";
        this.logger.warn(`siwa-client ${VERSION} needs version ${API_VERSION} of siwa's interface, not ${version}: upgrade ${old}`);
    }
}

/** Errors of Node for which no connection exists. */
const CONNECTION_ERRORS = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

/**
 * True if siwa certainly received nothing. If a runtime does not tell, the call counts as sent and is not repeated.
 * @param {any} error
 */
function isWithoutConnection(error) {
    // Deno has no code for it.
    return CONNECTION_ERRORS.includes(error?.cause?.code) || /client error \(Connect\)/.test(error?.cause?.message);
}
