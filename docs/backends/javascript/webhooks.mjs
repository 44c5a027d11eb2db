// Verifies webhooks in the form of Standard Webhooks, with nothing but Node.js 18 or later.
import { createHmac, timingSafeEqual } from "node:crypto";

export const longest = 65_536; // bytes in a body. An event from siwa has a few hundred
const tolerance = 300; // seconds by which the clocks may differ. An older message is a replay

/** A message that is not from siwa, or not recent. The code repeats nothing from the message. */
export class WebhookRefused extends Error {
    constructor(status, code) {
        super(code);
        Object.assign(this, { status, code });
    }
}

/** The keys of one secret, or of two with a space between them during a rotation. */
export function keysOf(secrets) {
    const written = secrets.split(" ").filter((secret) => secret !== "");
    return written.map((secret) => {
        const text = secret.match(/^whsec_([A-Za-z0-9+/]+={0,2})$/)?.[1] ?? "";
        const key = Buffer.from(text, "base64");
        // Anybody can sign with an empty key.
        if (key.length < 24 || text.length % 4 !== 0) {
            throw new Error("a secret must be whsec_ and at least 24 bytes in base64");
        }
        return key;
    });
}

/**
 * Returns the ID of the message, which is the same for each delivery. Throws WebhookRefused.
 *
 * The headers have names in lower case, as Node has them. The body is a Buffer with the bytes as they arrived.
 */
export function verify(headers, body, keys, now = Date.now() / 1000) {
    if (body.length > longest) throw new WebhookRefused(413, "body_too_large");
    const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    const [id, timestamp, signatures] = names.map((name) => headers[name] ?? "");
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(id) || !/^[0-9]{1,12}$/.test(timestamp) || signatures === "") {
        throw new WebhookRefused(400, "webhook_headers_invalid");
    }
    if (Math.abs(now - Number(timestamp)) > tolerance) throw new WebhookRefused(400, "webhook_time_invalid");
    const given = signatures.split(" ").map((signature) => Buffer.from(signature));
    for (const key of keys) {
        const code = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
        const right = Buffer.from(`v1,${code}`);
        // Compares in constant time, so that timing reveals nothing about the signature.
        if (given.some((text) => text.length === right.length && timingSafeEqual(text, right))) return id;
    }
    throw new WebhookRefused(401, "webhook_signature_invalid");
}
