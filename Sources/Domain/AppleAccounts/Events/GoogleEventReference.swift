/// The security event of Google that ended an OAuth grant.
public struct GoogleEventReference: Sendable, Hashable {
    public let kind: GoogleEventKind
    /// `nil` when Google gave no reason, or a reason that this version does not know.
    public let reason: GoogleEventReason?

    public init(kind: GoogleEventKind, reason: GoogleEventReason? = nil) {
        (self.kind, self.reason) = (kind, reason)
    }
}

/// The kinds of Google's security events: the last part of the event's URI (Cross-Account Protection).
public enum GoogleEventKind: String, Sendable, Hashable, CaseIterable {
    case sessionsRevoked = "sessions-revoked"
    case tokensRevoked = "tokens-revoked"
    case tokenRevoked = "token-revoked"
    case accountDisabled = "account-disabled"
    case accountEnabled = "account-enabled"
    case credentialChangeRequired = "account-credential-change-required"
    /// A test event, which Google sends on request.
    case verification
    /// A kind that this version does not know.
    case other
}

/// The reasons of `account-disabled`, in Google's words.
public enum GoogleEventReason: String, Sendable, Hashable, CaseIterable {
    /// An attacker had taken the Google account over.
    case hijacking
    /// The Google account was one of many that were made automatically.
    case bulkAccount = "bulk-account"
}
