import StrictJSON

/// A security event token that the authorization server has reported, and Google has accepted.
public struct ReceivedEvent: Sendable, Equatable {
    public let jti: String
    /// The last part of the event's URI, like `token-revoked`.
    public let type: String
    /// Seconds since 1970.
    public let issuedAt: Int64
    /// Lowercase hexadecimal of SHA-512(SHA-512(refresh token)).
    public let tokenHash: String
    /// The link whose refresh token it is; `nil` when Google does not know the token.
    public let linkID: String?
    /// How often it was delivered.
    public internal(set) var deliveries: Int

    var json: JSONObject {
        var json = JSONObject([
            ("jti", .string(jti)), ("type", .string(type)), ("iat", .integer(issuedAt)),
            ("token", .string(tokenHash)), ("deliveries", .integer(Int64(deliveries))),
        ])
        json["link"] = linkID.map { .string($0) }
        return json
    }
}
