/** @typedef {import("./models.js").Models} Models */
/**
 * Reads a model. Skips unknown members. Throws TypeError for a missing member, or one of another type.
 * @template {keyof Models} Name
 * @param {Name} name
 * @param {unknown} value
 * @returns {Models[Name]}
 */
export function decode<Name extends keyof import("./models.js").Models>(name: Name, value: unknown): import("./models.js").Models[Name];
/**
 * Reads a model from a response. Throws SiwaError.
 * @template {keyof Models} Name
 * @param {Name} name
 * @param {unknown} value
 */
export function decodeResponse<Name extends keyof import("./models.js").Models>(name: Name, value: unknown): import("./models.js").Models[Name];
/** @type {(value: unknown) => value is Record<string, any>} */
export function isObject(value: unknown): value is Record<string, any>;
/**
 * Throws for bytes that are not UTF-8 or not JSON.
 * @type {(bytes: Uint8Array) => any}
 */
export function parseJSON(bytes: Uint8Array): any;
/**
 * Strict base64: undefined for a text that an encoder would not write.
 * @param {string} text
 */
export function base64Bytes(text: string): Uint8Array | undefined;
/**
 * All bytes of a body. A body that is longer than `longest` is canceled, and the result has more than `longest` bytes.
 * @param {ReadableStream<Uint8Array> | null} body
 * @param {number} longest
 */
export function boundedBytes(body: ReadableStream<Uint8Array> | null, longest: number): Promise<Uint8Array>;
/** @param {any[]} chunks */
export function joined(chunks: any[]): Promise<Uint8Array>;
export type Models = import("./models.js").Models;
