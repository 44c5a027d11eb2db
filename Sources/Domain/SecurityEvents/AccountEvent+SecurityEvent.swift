public import AppleAccounts

extension AccountEvent.Kind {
    /// The type of the security event for this account event. This is the only list; `docs/events.md` shows
    /// it, and a test compares them.
    ///
    /// `identifier-changed` of RISC is not in it: its subject must be the old address (RISC Profile 1.0 §2.5),
    /// which events never contain. Nor is `token-revoked` of OAuth: its subject must be the token.
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

    /// `change_type` of `credential-change` (CAEP 1.0 §3.3); `nil` for the other types.
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
