// Verifies security event tokens of siwa (RFC 8417, RFC 8935) with jose 4.11 or later: npm install jose
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

const longest = 65_536; // characters in a token. A token from siwa has about a thousand

/** A token that is not from siwa, or not for this receiver. The code is one of RFC 8935, section 2.4. */
export class EventRefused extends Error {
    constructor(code) {
        super(code);
        this.code = code;
    }
}

/** The keys could not be fetched. Respond with 503: siwa sends the event again. */
export class KeysUnavailable extends Error {}

const codeOfClaim = { iss: "invalid_issuer", aud: "invalid_audience" };

function refusal(error) {
    if (error instanceof errors.JWTClaimValidationFailed) {
        return new EventRefused(codeOfClaim[error.claim] ?? "invalid_request");
    }
    for (const kind of ["JWKSNoMatchingKey", "JWSSignatureVerificationFailed", "JOSEAlgNotAllowed"]) {
        if (error instanceof errors[kind]) return new EventRefused("invalid_key");
    }
    for (const kind of ["JWSInvalid", "JWTInvalid", "JOSENotSupported", "JWKSMultipleMatchingKeys"]) {
        if (error instanceof errors[kind]) return new EventRefused("invalid_request");
    }
    return new KeysUnavailable();
}

/** Verifies tokens with this iss and aud. keysURL is where siwa publishes its keys. */
export class SecurityEvents {
    constructor(issuer, audience, keysURL) {
        // typ: otherwise an ID token or an access token of the same issuer would pass for an event.
        this.options = { typ: "secevent+jwt", algorithms: ["ES256"], issuer, audience, clockTolerance: 60 };
        // An unknown key ID causes a fetch at most once in 30 seconds: anybody can invent key IDs.
        const times = { timeoutDuration: 5_000, cooldownDuration: 30_000, cacheMaxAge: 300_000 };
        this.keys = createRemoteJWKSet(new URL(keysURL), times);
    }

    /** Returns the claims. The claim jti is the same for each delivery of the event. */
    async verify(token) {
        if (token.length > longest) throw new EventRefused("invalid_request");
        const { payload } = await jwtVerify(token, this.keys, this.options).catch((error) => {
            throw refusal(error);
        });
        const { jti, iat, sub_id, events } = payload;
        const isComplete = jti && sub_id && Object.keys(Object(events)).length === 1;
        // Without an end of a token, jose does not look at its time.
        if (!isComplete || !(iat <= Date.now() / 1000 + 60)) throw new EventRefused("invalid_request");
        return payload;
    }
}
