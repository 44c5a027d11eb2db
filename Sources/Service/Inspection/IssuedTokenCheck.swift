/// A check of a token of this service. The raw values are the names in reports.
package enum IssuedTokenCheck: String, CaseIterable {
    case form
    case type
    case key
    case signature
    case claims
    case issuer
    case audience
    case expiration
    case nonce
    case accessTokenHash = "access_token_hash"
    /// The token family in the database.
    case family
    /// The row of a code in the database.
    case code

    /// The code of a token that does not pass.
    var code: String {
        switch self {
        case .form: "token_malformed"
        case .type: "type_mismatch"
        case .key: "unknown_key"
        case .signature: "signature_invalid"
        case .claims: "claim_missing"
        case .issuer: "issuer_mismatch"
        case .audience: "audience_mismatch"
        case .expiration: "token_expired"
        case .nonce: "nonce_mismatch"
        case .accessTokenHash: "access_token_hash_mismatch"
        case .family: "token_inactive"
        case .code: "code_inactive"
        }
    }

    var advice: String {
        switch self {
        case .form: "Give the token as the token endpoint returned it, with nothing cut off."
        case .type: "Give --kind for this kind of token. An ID token is no access token, for an API neither."
        case .key:
            "Give the key set of the service that issued the token. A key stays in the set until its last token has expired."
        case .signature: "This service has not made the token, or it was changed. Do not trust it."
        case .claims: "This service makes no such token. Do not trust it."
        case .issuer: "Give --issuer as the service has it: SIWA_PUBLIC_URL or oauth.issuer, byte for byte."
        case .audience:
            "An access token has the client's audience, by default the issuer; an ID token has the client ID."
        case .expiration: "Refresh the token. --at verifies it as of an earlier time."
        case .nonce: "Compare with the nonce of the authorization request that began this session."
        case .accessTokenHash: "Give the access token of the same token response."
        case .code: "A code is for one use within its time. The client must begin a new authorization."
        case .family: "The user or the client must begin a new authorization, or sign in again."
        }
    }
}
