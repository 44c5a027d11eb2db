import StrictJSON

/// The types of security events that this service sends: OpenID URIs where the specifications define a type
/// with the same meaning, and our own URIs otherwise.
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

    /// Returns one of our own types: the event feed's word, with hyphens.
    static func own(_ word: String) -> Self {
        Self("urn:siwa:event:" + word.map { $0 == "_" ? "-" : String($0) }.joined())
    }
}

extension AccountEvent.Kind {
    /// The security event type for this account event. This is the only such list; `docs/events.md`
    /// reproduces it, and a test compares the two.
    ///
    /// Two types are missing on purpose. `identifier-changed` of RISC must have the old address as its
    /// subject (RISC Profile 1.0 §2.5), but events never contain addresses. `token-revoked` of OAuth must
    /// have the token as its subject.
    public var securityEventType: SecurityEventType {
        switch self {
        case .credentialAuthorized, .credentialRevoked: .credentialChange
        case .accountErased: .accountPurged
        case .accountDisabled: .accountDisabled
        case .accountEnabled: .accountEnabled
        case .sessionsEnded: .sessionRevoked
        case .grantRevoked: .tokensRevoked
        case .accountCreated, .emailChanged, .emailForwardingChanged, .profileChanged, .accountDeleted,
            .accountTransferred, .grantCreated, .tokenRevoked:
            .own(rawValue)
        }
    }

    /// The `change_type` of `credential-change` (CAEP 1.0 §3.3); `nil` for other types.
    var credentialChange: String? {
        switch self {
        case .credentialAuthorized: "create"
        case .credentialRevoked: "revoke"
        case .accountCreated, .emailChanged, .emailForwardingChanged, .profileChanged, .accountDeleted,
            .accountErased, .accountTransferred, .grantCreated, .grantRevoked, .accountDisabled,
            .accountEnabled, .sessionsEnded, .tokenRevoked:
            nil
        }
    }
}

/// The user that a security event is about (RFC 9493 §3.2).
public enum SecurityEventSubject: Sendable, Hashable {
    /// A user's `sub` at an issuer.
    case issuerSubject(issuer: String, subject: String)
    /// A name that only the sender and the receiver understand.
    case opaque(String)

    /// Creates the subject of an account event, for a receiver that uses this service's account IDs.
    ///
    /// If the event predates the user's account, the subject is Apple's `sub`. Returns `nil` if such a user
    /// has been erased, because the `sub` was removed.
    public init?(of event: AccountEvent) {
        if let account = event.accountID {
            self = .opaque(account.rawValue)
        } else if let subject = event.subject {
            self = .issuerSubject(issuer: Self.apple, subject: subject.rawValue)
        } else {
            return nil
        }
    }

    /// The issuer of Apple's `sub` values, as in Apple's identity tokens.
    static let apple = "https://appleid.apple.com"
}

extension JSONWriter {
    mutating func value(_ subject: SecurityEventSubject) {
        beginObject()
        switch subject {
        case .issuerSubject(let issuer, let subject):
            member("format", "iss_sub")
            member("iss", issuer)
            member("sub", subject)
        case .opaque(let id):
            member("format", "opaque")
            member("id", id)
        }
        endObject()
    }
}
