import { SiwaError } from "./errors.js";
import { SCHEMAS } from "./models.js";

/** @typedef {import("./models.js").Models} Models */

/**
 * Reads a model. Skips unknown members. Throws TypeError for a missing member, or one of another type.
 * @template {keyof Models} Name
 * @param {Name} name
 * @param {unknown} value
 * @returns {Models[Name]}
 */
function decode(name, value) {
    if (!isObject(value)) throw new TypeError(`expected ${name}, found ${typeof value}`);
    /** @type {Record<string, any>} */
    const model = {};
    for (const [member, kind] of Object.entries(SCHEMAS[name])) {
        const isOptional = kind.endsWith("?");
        const found = Object.hasOwn(value, member) ? value[member] : undefined;
        if (isOptional && (found === undefined || found === null)) continue;
        model[member] = decodeMember(isOptional ? kind.slice(0, -1) : kind, found);
    }
    return /** @type {any} */ (model);
}

/**
 * Reads a model, by default from a response. Throws SiwaError with the code and the status.
 * @template {keyof Models} Name
 * @param {Name} name
 * @param {unknown} value
 * @param {string} [code]
 * @param {number} [status]
 */
export function decoded(name, value, code = "unexpected_response", status = undefined) {
    try {
        return decode(name, value);
    } catch (error) {
        throw new SiwaError(code, status, `${name}: ${/** @type {Error} */ (error).message}`);
    }
}

/** @type {(kind: string, value: any) => unknown} */
function decodeMember(kind, value) {
    if (kind.startsWith("[") && Array.isArray(value)) {
        return value.map((element) => decodeMember(kind.slice(1, -1), element));
    }
    if (kind === "time") {
        const time = new Date(value);
        // Date also reads other forms, and moves 30 February to March.
        if (time.toJSON() === value) return time;
    }
    if (kind in SCHEMAS) return decode(/** @type {keyof Models} */ (kind), value);
    const isRight = kind === "integer" ? Number.isSafeInteger(value)
        : kind === "any" || typeof value === (kind === "text" ? "string" : kind);
    if (!isRight) throw new TypeError(`expected ${kind}, found ${typeof value}`);
    return value;
}

/** @type {(value: unknown) => value is Record<string, any>} */
export function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The JSON object, or undefined for bytes that are not UTF-8, not JSON, or another value.
 * @param {Uint8Array} bytes
 */
export function jsonObject(bytes) {
    try {
        const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
        if (isObject(value)) return value;
    } catch {
        // Not JSON.
    }
}

/**
 * Strict base64: undefined for a text that an encoder would not write.
 * @param {string} text
 */
export function base64Bytes(text) {
    try {
        const binary = atob(text);
        if (btoa(binary) === text) return Uint8Array.from(binary, (character) => character.charCodeAt(0));
    } catch {
        // Not base64.
    }
}

/**
 * All bytes of a body. Of a body that is longer than `longest`, the result has a chunk more than `longest`.
 * @param {any} body  A ReadableStream, a request of Node, or null.
 * @param {number} longest
 * @param {boolean} readsRest  Reads the rest without keeping it, so that the sender gets the response. Otherwise a longer
 *   body is canceled.
 */
export async function boundedBytes(body, longest, readsRest = false) {
    const chunks = [];
    let length = 0;
    for await (const chunk of body ?? []) {
        if (length <= longest) chunks.push(chunk);
        length += chunk.length;
        if (length > longest && !readsRest) break;
    }
    return joined(chunks);
}

/** @param {any[]} chunks */
export async function joined(chunks) {
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
