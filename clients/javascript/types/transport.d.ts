export const VERSION: "0.1.0";
/** The version of siwa's interface that this package was written for. */
export const API_VERSION: 1;
/**
 * The time and the pauses of a client. Tests replace it.
 * @typedef {object} Clock
 * @property {() => number} now  Seconds since 1970.
 * @property {(seconds: number) => Promise<void>} sleep  Resolves after so many seconds.
 */
/** @type {Clock} */
export const systemClock: Clock;
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
    /** @param {import("./client.js").ClientOptions & { url: string, apiKey: string }} options */
    constructor({ url, apiKey, clock, logger, timeoutSeconds, attempts, fetch }: import("./client.js").ClientOptions & {
        url: string;
        apiKey: string;
    });
    clock: Clock;
    /** @type {Logger} */
    logger: Logger;
    /**
     * The JSON of a successful response, undefined without a body. Throws SiwaError.
     * @param {string} method
     * @param {string} target
     * @param {CallOptions} [options]
     * @returns {Promise<any>}
     */
    call(method: string, target: string, options?: CallOptions | undefined): Promise<any>;
    #private;
}
/**
 * The time and the pauses of a client. Tests replace it.
 */
export type Clock = {
    /**
     * Seconds since 1970.
     */
    now: () => number;
    /**
     * Resolves after so many seconds.
     */
    sleep: (seconds: number) => Promise<void>;
};
/**
 * Takes the messages of the package, such as `console` or a logger of pino.
 */
export type Logger = {
    /**
     * A call is repeated.
     */
    info: (message: string) => void;
    /**
     * Somebody should look.
     */
    warn: (message: string) => void;
};
export type CallOptions = {
    body?: string | undefined;
    contentType?: string | undefined;
    /**
     * A second execution changes nothing. Otherwise the call is repeated only if it was
     * certainly not executed.
     */
    canRepeat?: boolean | undefined;
    hasKey?: boolean | undefined;
    timeoutSeconds?: number | undefined;
    attempts?: number | undefined;
};
