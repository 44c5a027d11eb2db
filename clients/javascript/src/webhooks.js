// Webhooks in the form of Standard Webhooks.
import { base64Bytes, decoded, joined, jsonObject } from "./decoding.js";
import { check } from "./errors.js";

/** Bytes of a body. An event has some hundreds. */
export const LONGEST_BODY = 65_536;
/** Seconds by which the clocks may differ. An older message is a replay. */
const TOLERANCE = 300;

/**
 * The headers of a request: a `Headers` object, or those of Node.
 * @typedef {Headers | Record<string, string | string[] | undefined>} RequestHeaders
 */

/**
 * The keys of one secret, or of several secrets with spaces between them during a rotation. Throws TypeError.
 * @param {string} secrets
 */
export function webhookKeys(secrets) {
    return secrets.split(/\s+/).filter(Boolean).map((secret) => {
        const key = base64Bytes(secret.slice("whsec_".length)) ?? new Uint8Array();
        // Anybody can sign with an empty key. The bounds are those of Standard Webhooks.
        if (!secret.startsWith("whsec_") || key.length < 24 || key.length > 64) {
            throw new TypeError("SIWA_WEBHOOK_SECRETS: a secret must be whsec_ and 24 to 64 bytes in base64");
        }
        return key;
    });
}

/**
 * See SiwaClient.verifyWebhook.
 * @param {RequestHeaders} headers
 * @param {Uint8Array} rawBody
 * @param {BufferSource[]} keys
 * @param {number} now
 */
export async function verifiedEvent(headers, rawBody, keys, now) {
    if (keys.length === 0) throw new TypeError("SIWA_WEBHOOK_SECRETS is missing: set it to the webhook's secret, whsec_...");
    if (!(rawBody instanceof Uint8Array)) throw new TypeError("the body must be the bytes as they arrived, not text or JSON");
    check(rawBody.length <= LONGEST_BODY, "body_too_large", 413, `A webhook has at most ${LONGEST_BODY} bytes.`);
    const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
    const fields = new Map(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? "")]));
    const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => fields.get(`webhook-${name}`) ?? "");
    check(/^[A-Za-z0-9_-]{1,64}$/.test(id) && /^[0-9]{1,12}$/.test(timestamp) && signatures,
        "webhook_headers_invalid", 400, "The headers webhook-id, -timestamp and -signature are needed.");
    check(Math.abs(now - Number(timestamp)) <= TOLERANCE,
        "webhook_time_invalid", 400, `The message is more than ${TOLERANCE} s from now: check the clock.`);
    const message = await joined([new TextEncoder().encode(`${id}.${timestamp}.`), rawBody]);
    const found = signatures.split(" ").map((each) => each.startsWith("v1,") && base64Bytes(each.slice("v1,".length)));
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    let isSigned = false;
    for (const bytes of keys) {
        const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
        // Once for all signatures, because anybody can send thousands of them with the longest body.
        const expected = new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
        for (const signature of found) {
            if (!signature || signature.length !== expected.length) continue;
            // In constant time, so that the time of a refusal reveals nothing about the signature.
            if (expected.reduce((difference, byte, index) => difference | (byte ^ signature[index]), 0) === 0) isSigned = true;
        }
    }
    check(isSigned, "webhook_signature_invalid", 401, "No signature is by a secret of this receiver.");
    return decoded("Event", jsonObject(rawBody), "event_malformed", 400);
}
