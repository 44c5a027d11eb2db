import AppleIdentity

/// A frozen identity token or notification, and its expected result.
struct TokenCase: Decodable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case summary, kind, token, configuration, expectations, at, verdict, code, identity, notification
        case tokenParts = "token_parts"
        case keySet = "key_set"
    }

    let summary: String
    let kind: Kind
    let token: String?
    let tokenParts: [TokenPart]?
    let keySet: String
    let configuration: Configuration
    let expectations: Expectations?
    let at: Timestamp
    let verdict: Verdict
    let code: String?
    let identity: IdentityFacts?
    let notification: NotificationFacts?

    enum Kind: String, Decodable {
        case identityToken = "identity-token"
        case notification
    }

    enum Verdict: String, Decodable {
        case accepted, refused
    }

    struct TokenPart: Decodable {
        let text: String
        let times: Int?
    }

    struct Configuration: Decodable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case issuers
            case clientIDs = "client_ids"
            case leewaySeconds = "leeway_seconds"
        }

        let clientIDs: [String]
        let issuers: [String]?
        let leewaySeconds: Int64?
    }

    struct Expectations: Decodable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case nonce
            case clientID = "client_id"
            case authorizationCode = "authorization_code"
            case accessToken = "access_token"
        }

        let nonce, clientID, authorizationCode, accessToken: String?
    }
}

extension TokenCase {
    var compact: String {
        token ?? (tokenParts ?? []).map { String(repeating: $0.text, count: $0.times ?? 1) }.joined()
    }

    var policy: VerificationPolicy {
        VerificationPolicy(
            issuers: configuration.issuers ?? [VerificationPolicy.appleIssuer],
            clientIDs: configuration.clientIDs, leeway: configuration.leewaySeconds ?? 60)
    }

    var identityExpectations: IdentityTokenExpectations {
        IdentityTokenExpectations(
            nonce: expectations?.nonce, clientID: expectations?.clientID,
            authorizationCode: expectations?.authorizationCode, accessToken: expectations?.accessToken)
    }
}
