/**
 * Throws SiwaError unless the condition is true.
 * @param {unknown} condition
 * @param {string} code
 * @param {number} status
 * @param {string} detail
 * @returns {asserts condition}
 */
export function check(condition: unknown, code: string, status: number, detail: string): asserts condition;
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
    constructor(code: string, status: number | undefined, detail: string, { requestId, retryAfter, cause, reAttest }?: {
        requestId?: string;
        retryAfter?: number;
        cause?: string;
        reAttest?: boolean;
    });
    /** Stable, in lower case with underscores. */
    code: string;
    /** The HTTP status, or undefined without a response. */
    status: number | undefined;
    /** A sentence for the log. It contains no token, address or key. */
    detail: string;
    /** The ID of the request in siwa's log. */
    requestId: string | undefined;
    /** Seconds to wait before the same call can succeed. */
    retryAfter: number | undefined;
    /** With `attestation_required` and `attestation_invalid`: the reason. */
    cause: string | undefined;
    /** With `cause`: true if the app can continue with a new key that it attests. */
    reAttest: boolean | undefined;
    /** True if the same call can succeed later. */
    get isTemporary(): boolean;
    /**
     * The status and the JSON for the app, if a call for one of the app's requests threw this error.
     *
     * A refusal keeps its status and code. 503 `try_again` means that the app tries again later. 500 is a mistake of
     * the backend, such as a wrong API key: log it.
     * @returns {{ status: number, json: Refusal }}
     */
    forApp(): {
        status: number;
        json: Refusal;
    };
}
/**
 * The JSON for an app.
 */
export type Refusal = {
    /**
     * The code.
     */
    error: string;
    /**
     * With a refused proof of App Attest: the reason.
     */
    cause?: string | undefined;
    /**
     * With `cause`: true if the app can continue with a new key that it attests.
     */
    re_attest?: boolean | undefined;
};
