/**
 * The headers of a request: a `Headers` object, or those of Node.
 * @typedef {Headers | Record<string, string | string[] | undefined>} RequestHeaders
 */
/**
 * The keys of one secret, or of several secrets with spaces between them during a rotation. Throws TypeError.
 * @param {string} secrets
 */
export function webhookKeys(secrets: string): Uint8Array[];
/**
 * See SiwaClient.verifyWebhook.
 * @param {RequestHeaders} headers
 * @param {Uint8Array} rawBody
 * @param {BufferSource[]} keys
 * @param {number} now
 */
export function verifiedEvent(headers: RequestHeaders, rawBody: Uint8Array, keys: BufferSource[], now: number): Promise<import("./models.js").Event>;
/** Bytes of a body. An event has some hundreds. */
export const LONGEST_BODY: 65536;
/**
 * The headers of a request: a `Headers` object, or those of Node.
 */
export type RequestHeaders = Headers | Record<string, string | string[] | undefined>;
