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
export function decode(name, value) {
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
 * Reads a model from a response. Throws SiwaError.
 * @template {keyof Models} Name
 * @param {Name} name
 * @param {unknown} value
 */
export function decodeResponse(name, value) {
    try {
        return decode(name, value);
    } catch (error) {
        throw new SiwaError("unexpected_response", undefined, `${name}: ${/** @type {Error} */ (error).message}`);
    }
}

/** @type {(kind: string, value: any) => unknown} */
function decodeMember(kind, value) {
    if (kind.startsWith("[") && Array.isArray(value)) {
        return value.map((element) => decodeMember(kind.slice(1, -1), element));
    }
    if (kind === "time" && typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) {
        const time = new Date(value);
        // Date moves 30 February to March.
        if (!Number.isNaN(time.getTime()) && time.toISOString() === value) return time;
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
 * Throws for bytes that are not UTF-8 or not JSON.
 * @type {(bytes: Uint8Array) => any}
 */
export function parseJSON(bytes) {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

/**
 * Strict base64: undefined for a text that an encoder would not write.
 * @param {string} text
 */
export function base64Bytes(text) {
    try {
        const binary = atob(text);
        return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
    } catch {
        return undefined;
    }
}

/**
 * All bytes of a body. A body that is longer than `longest` is canceled, and the result has more than `longest` bytes.
 * @param {ReadableStream<Uint8Array> | null} body
 * @param {number} longest
 */
export async function boundedBytes(body, longest) {
    const chunks = [];
    let length = 0;
    const reader = body?.getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        chunks.push(part.value);
        length += part.value.length;
        if (length > longest) {
            await reader?.cancel();
            break;
        }
    }
    return joined(chunks);
}

/** @param {any[]} chunks */
export async function joined(chunks) {
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
