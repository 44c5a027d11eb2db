// OAuth access tokens (RFC 9068), verified by siwa's public keys.
import { base64Bytes, decoded, jsonObject } from "./decoding.js";
import { SiwaError, check } from "./errors.js";

/** @typedef {import("./models.js").IntrospectionResponse} IntrospectionResponse */

/** Characters. siwa's access tokens have about 700. */
const LONGEST_TOKEN = 16_384;
/** Seconds by which the clocks may differ. */
const LEEWAY = 60;
/** Seconds for which a key set is used, and for which it is used while siwa does not respond. */
const [FRESH, STALE] = [3_600, 86_400];
/** Seconds between two requests for keys: anybody can invent key IDs. */
const [COOL_DOWN, PAUSE_AFTER_FAILURE] = [60, 5];

/**
 * The token in the header `Authorization` (RFC 6750 §2.1). Throws SiwaError `token_missing`.
 * @param {string | null | undefined} bearer
 */
export function bearerToken(bearer) {
    const match = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(bearer ?? "");
    check(match, "token_missing", 401, "The request needs the header Authorization: Bearer TOKEN.");
    return match[1];
}

/**
 * Throws SiwaError `audience_mismatch` or `scope_missing`.
 * @param {IntrospectionResponse} token
 * @param {string} audience
 * @param {readonly string[]} scopes
 */
export function checkAudienceAndScopes(token, audience, scopes) {
    check(token.aud === audience, "audience_mismatch", 401, "The token is for another API.");
    const granted = (token.scope ?? "").split(" ");
    const missing = scopes.filter((scope) => !granted.includes(scope));
    check(missing.length === 0, "scope_missing", 403, `The token lacks the scope ${missing.join(" ")}.`);
}

/** @typedef {{ algorithm: string, verify: (signature: BufferSource, message: BufferSource) => Promise<boolean> }} Key */

/** Verifies tokens of one issuer, and keeps its keys. */
export class AccessTokens {
    #transport;
    #issuer;
    /** @type {Map<string, Key>} */
    #keys = new Map();
    #fetchedAt = -Infinity;
    #triedAt = -Infinity;
    /** @type {Promise<void> | undefined} */
    #fetching;

    /**
     * @param {import("./transport.js").Transport} transport
     * @param {string} issuer
     */
    constructor(transport, issuer) {
        this.#transport = transport;
        this.#issuer = issuer;
    }

    /**
     * See SiwaClient.verifyToken.
     * @param {string} token
     * @param {string} audience
     * @param {readonly string[]} scopes
     */
    async verify(token, audience, scopes) {
        check(token.length <= LONGEST_TOKEN, "token_too_large", 401, `A token has at most ${LONGEST_TOKEN} characters.`);
        const segments = token.split(".");
        check(segments.length === 3, "token_malformed", 401, "A token has three segments.");
        const [header, signature] = [parsed(segments[0]), segmentBytes(segments[2])];
        // These change what is signed, or where the key comes from.
        check(!["crit", "b64", "jwk", "jku", "x5u", "x5c"].some((name) => Object.hasOwn(header, name)),
            "header_not_allowed", 401, "The header has a parameter that siwa never writes.");
        const { alg, typ, kid } = header;
        check(alg === "ES256" || alg === "RS256", "algorithm_not_allowed", 401, "The algorithm must be ES256 or RS256.");
        // An ID token of the same issuer is no access token.
        check(typeof typ === "string" && ["at+jwt", "application/at+jwt"].includes(typ.toLowerCase()),
            "not_an_access_token", 401, "The typ of an access token is at+jwt.");
        check(typeof kid === "string" && kid.length >= 1 && kid.length <= 64,
            "key_id_invalid", 401, "The kid must be a text of 1 to 64 characters.");
        const key = await this.#key(kid);
        // The key decides about the algorithm, and the token cannot choose another one.
        check(key.algorithm === alg, "algorithm_not_allowed", 401, `The key is for ${key.algorithm}.`);
        check(await key.verify(signature, new TextEncoder().encode(`${segments[0]}.${segments[1]}`)),
            "signature_invalid", 401, "The signature is not by the key that the kid names.");
        return this.#checked(parsed(segments[1]), audience, scopes);
    }

    /**
     * @param {Record<string, any>} claims
     * @param {string} audience
     * @param {readonly string[]} scopes
     */
    #checked(claims, audience, scopes) {
        for (const name of ["iss", "aud", "sub", "client_id", "iat", "exp", "jti"]) {
            check(Object.hasOwn(claims, name), "claim_missing", 401, `The token lacks ${name}.`);
        }
        check(claims.iss === this.#issuer, "issuer_mismatch", 401, "The token is of another issuer: check SIWA_ISSUER.");
        // The only audience is a text. An array is not siwa's.
        check(claims.aud === audience, "audience_mismatch", 401, "The token is for another API.");
        const { exp, iat, nbf = 0 } = claims;
        check([exp, iat, nbf].every((time) => Number.isSafeInteger(time) && time >= 0) && claims.sub,
            "claim_malformed", 401, "A claim has another type, or is out of range.");
        const now = this.#transport.clock.now();
        check(now < exp + LEEWAY, "token_expired", 401, "The token has expired.");
        check(nbf <= now + LEEWAY, "token_not_yet_valid", 401, "The token is not valid yet.");
        check(iat <= now + LEEWAY, "issued_in_future", 401, "The token is of the future: check the clock.");
        const members = { ...claims, active: true, token_type: "Bearer" };
        const token = decoded("IntrospectionResponse", members, "claim_malformed", 401);
        checkAudienceAndScopes(token, audience, scopes);
        return token;
    }

    /** @param {string} kid */
    async #key(kid) {
        const known = this.#keys.get(kid);
        if (known && this.#isWithin(FRESH)) return known;
        // One request at a time. A caller with a known key does not wait for it.
        if (known && this.#fetching && this.#isWithin(STALE)) return known;
        while (this.#fetching) await this.#fetching;
        const now = this.#transport.clock.now();
        const pause = this.#hasFailed ? PAUSE_AFTER_FAILURE : COOL_DOWN;
        const isPausing = now - this.#triedAt >= 0 && now - this.#triedAt < pause;
        if (!(this.#keys.has(kid) && this.#isWithin(FRESH)) && !isPausing) {
            this.#fetching = this.#fetch(now).finally(() => this.#fetching = undefined);
            await this.#fetching;
        }
        const key = this.#keys.get(kid);
        if (key && this.#isWithin(STALE)) return key;
        if (this.#hasFailed) {
            const retryAfter = Math.max(1, Math.round(PAUSE_AFTER_FAILURE - (now - this.#triedAt)));
            throw new SiwaError("keys_unavailable", 503, "siwa's keys could not be fetched.", { retryAfter });
        }
        throw new SiwaError("unknown_key", 401, "siwa has no key with this kid.");
    }

    get #hasFailed() {
        return this.#triedAt !== this.#fetchedAt;
    }

    /** @param {number} seconds */
    #isWithin(seconds) {
        const age = this.#transport.clock.now() - this.#fetchedAt;
        return age >= 0 && age < seconds;
    }

    /** @param {number} now */
    async #fetch(now) {
        this.#triedAt = now;
        const keys = new Map();
        try {
            const options = { hasKey: false, timeoutSeconds: 5, attempts: 1 };
            const { keys: entries } = await this.#transport.call("GET", "/oauth/jwks.json", options) ?? {};
            for (const entry of Array.isArray(entries) ? entries : []) {
                const key = await usable(entry).catch(() => undefined); // not a point of the curve
                if (key) keys.set(entry.kid, key);
            }
        } catch (error) {
            if (!(error instanceof SiwaError)) throw error;
        }
        if (keys.size === 0) return; // the old keys stay
        this.#keys = keys;
        this.#fetchedAt = now;
    }
}

/**
 * A key for signatures, or undefined for any other.
 * @param {any} entry
 * @returns {Promise<Key | undefined>}
 */
async function usable(entry) {
    const { kid, use, kty, alg, crv, x, y, n, e } = entry ?? {};
    const isEC = kty === "EC" && alg === "ES256" && crv === "P-256";
    // Not shorter than 2,048 bits, and with the exponent 65,537.
    const modulus = kty === "RSA" && alg === "RS256" && e === "AQAB" ? segmentBytes(n) : [];
    const isRSA = modulus[0] > 0 && (modulus.length > 256 || (modulus.length === 256 && modulus[0] >= 128));
    if (typeof kid !== "string" || use !== "sig" || !(isEC || isRSA)) return undefined;
    const parameters = { name: isEC ? "ECDSA" : "RSASSA-PKCS1-v1_5", namedCurve: crv, hash: "SHA-256" };
    const jwk = isEC ? { kty, crv, x, y } : { kty, n, e };
    const key = await crypto.subtle.importKey("jwk", jwk, parameters, false, ["verify"]);
    /** @type {Key["verify"]} */
    const verify = (signature, message) => crypto.subtle.verify(parameters, key, signature, message);
    // Deno imports a point that is not on the curve, and throws at each signature.
    await verify(new Uint8Array(64), new Uint8Array());
    return { algorithm: alg, verify };
}

/**
 * Strict base64url (RFC 7515 §2): no padding, no other alphabet, no stray bits.
 * @param {unknown} segment
 */
function segmentBytes(segment) {
    const bytes = typeof segment === "string" && /^[A-Za-z0-9_-]+$/.test(segment)
        && base64Bytes(segment.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat(-segment.length & 3));
    check(bytes, "token_malformed", 401, "A segment is not base64url.");
    return bytes;
}

/** @param {string} segment */
function parsed(segment) {
    const value = jsonObject(segmentBytes(segment));
    check(value, "token_malformed", 401, "A segment is not a JSON object.");
    return value;
}
