/**
 * The JSON for an app.
 * @typedef {object} Refusal
 * @property {string} error  The code.
 * @property {string} [cause]  With a refused proof of App Attest: the reason.
 * @property {boolean} [re_attest]  With `cause`: true if the app can continue with a new key that it attests.
 */

/** Codes of a mistake in the backend's settings. */
const MISCONFIGURED = /^(unexpected_response$|caller_)/;

/**
 * Throws SiwaError unless the condition is true.
 * @param {unknown} condition
 * @param {string} code
 * @param {number} status
 * @param {string} detail
 * @returns {asserts condition}
 */
export function check(condition, code, status, detail) {
    if (!condition) throw new SiwaError(code, status, detail);
}

/**
 * A refusal, or the lack of a usable response. Branch on `code`, which never changes its meaning.
 *
 * Codes with a `requestId` come from siwa; docs/api.md lists them. The package makes these codes itself:
 * `unreachable` (no complete response in time; siwa may have executed the call), `unavailable` (a 5xx or 429 of a
 * proxy), `unexpected_response` (not siwa's response: check the URL), and the codes that the methods name.
 */
export class SiwaError extends Error {
    /**
     * @param {string} code
     * @param {number | undefined} status
     * @param {string} detail
     * @param {{ requestId?: string, retryAfter?: number, cause?: string, reAttest?: boolean }} more
     */
    constructor(code, status, detail, { requestId, retryAfter, cause, reAttest } = {}) {
        const parts = [code, status && `status ${status}`, detail, requestId && `request ${requestId}`,
            MISCONFIGURED.test(code) && "check SIWA_URL and SIWA_API_KEY"];
        super(parts.filter(Boolean).join(", "));
        this.name = "SiwaError";
        /** Stable, in lower case with underscores. */
        this.code = code;
        /** The HTTP status, or undefined without a response. */
        this.status = status;
        /** A sentence for the log. It contains no token, address or key. */
        this.detail = detail;
        /** The ID of the request in siwa's log. */
        this.requestId = requestId;
        /** Seconds to wait before the same call can succeed. */
        this.retryAfter = retryAfter;
        /** With `attestation_required` and `attestation_invalid`: the reason. */
        this.cause = cause;
        /** With `cause`: true if the app can continue with a new key that it attests. */
        this.reAttest = reAttest;
    }

    /** True if the same call can succeed later. */
    get isTemporary() {
        return this.code === "unreachable" || this.status === 429 || (this.status ?? 0) >= 500;
    }

    /**
     * The status and the JSON for the app, if a call for one of the app's requests threw this error.
     *
     * A refusal keeps its status and code. 503 `try_again` means that the app tries again later. 500 is a mistake of
     * the backend, such as a wrong API key: log it.
     * @returns {{ status: number, json: Refusal }}
     */
    forApp() {
        if (this.isTemporary) return { status: 503, json: { error: "try_again" } };
        if (!this.status || MISCONFIGURED.test(this.code)) return { status: 500, json: { error: "internal_error" } };
        // JSON.stringify leaves out what is undefined.
        return { status: this.status, json: { error: this.code, cause: this.cause, re_attest: this.reAttest } };
    }
}
