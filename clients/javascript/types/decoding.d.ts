/**
 * Reads a model, by default from a response. Throws SiwaError with the code and the status.
 * @template {keyof Models} Name
 * @param {Name} name
 * @param {unknown} value
 * @param {string} [code]
 * @param {number} [status]
 */
export function decoded<Name extends keyof import("./models.js").Models>(name: Name, value: unknown, code?: string | undefined, status?: number | undefined): import("./models.js").Models[Name];
/** @type {(value: unknown) => value is Record<string, any>} */
export function isObject(value: unknown): value is Record<string, any>;
/**
 * The JSON object, or undefined for bytes that are not UTF-8, not JSON, or another value.
 * @param {Uint8Array} bytes
 */
export function jsonObject(bytes: Uint8Array): Record<string, any> | undefined;
/**
 * Strict base64: undefined for a text that an encoder would not write.
 * @param {string} text
 */
export function base64Bytes(text: string): Uint8Array | undefined;
/**
 * All bytes of a body. Of a body that is longer than `longest`, the result has a chunk more than `longest`.
 * @param {any} body  A ReadableStream, a request of Node, or null.
 * @param {number} longest
 * @param {boolean} readsRest  Reads the rest without keeping it, so that the sender gets the response. Otherwise a longer
 *   body is canceled.
 */
export function boundedBytes(body: any, longest: number, readsRest?: boolean): Promise<Uint8Array>;
/** @param {any[]} chunks */
export function joined(chunks: any[]): Promise<Uint8Array>;
export type Models = import("./models.js").Models;
