/// The types of security events that this service sends: URIs of the OpenID specifications where one of them
/// means the same as an event of ours, and URIs of our own otherwise.
public struct SecurityEventType: Sendable, Hashable {
    public let uri: String

    private init(_ uri: String) { self.uri = uri }

    private init(openID path: String) { uri = "https://schemas.openid.net/secevent/\(path)" }

    // RISC Profile 1.0 §2.
    public static let accountPurged = Self(openID: "risc/event-type/account-purged")
    public static let accountDisabled = Self(openID: "risc/event-type/account-disabled")
    public static let accountEnabled = Self(openID: "risc/event-type/account-enabled")

    // CAEP 1.0 §3.
    public static let sessionRevoked = Self(openID: "caep/event-type/session-revoked")
    public static let credentialChange = Self(openID: "caep/event-type/credential-change")

    // OAuth Event Types 1.0 §3.
    public static let tokenRevoked = Self(openID: "oauth/event-type/token-revoked")
    public static let tokensRevoked = Self(openID: "oauth/event-type/tokens-revoked")

    // OpenID Shared Signals Framework 1.0 §8.1.4.
    public static let verification = Self(openID: "ssf/event-type/verification")

    /// A type of our own: the word of the event feed, with hyphens.
    static func own(_ word: String) -> Self {
        Self("urn:siwa:event:" + word.map { $0 == "_" ? "-" : String($0) }.joined())
    }
}
