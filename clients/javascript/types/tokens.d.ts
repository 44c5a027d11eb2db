/**
 * The token in the header `Authorization` (RFC 6750 §2.1). Throws SiwaError `token_missing`.
 * @param {string | null | undefined} bearer
 */
export function bearerToken(bearer: string | null | undefined): string;
/**
 * Throws SiwaError `audience_mismatch` or `scope_missing`.
 * @param {IntrospectionResponse} token
 * @param {string} audience
 * @param {readonly string[]} scopes
 */
export function checkAudienceAndScopes(token: IntrospectionResponse, audience: string, scopes: readonly string[]): void;
/** @typedef {{ algorithm: string, verify: (signature: BufferSource, message: BufferSource) => Promise<boolean> }} Key */
/** Verifies tokens of one issuer, and keeps its keys. */
export class AccessTokens {
    /**
     * @param {import("./transport.js").Transport} transport
     * @param {string} issuer
     */
    constructor(transport: import("./transport.js").Transport, issuer: string);
    /**
     * See SiwaClient.verifyToken.
     * @param {string} token
     * @param {string} audience
     * @param {readonly string[]} scopes
     */
    verify(token: string, audience: string, scopes: readonly string[]): Promise<import("./models.js").IntrospectionResponse>;
    #private;
}
export type IntrospectionResponse = import("./models.js").IntrospectionResponse;
export type Key = {
    algorithm: string;
    verify: (signature: BufferSource, message: BufferSource) => Promise<boolean>;
};
