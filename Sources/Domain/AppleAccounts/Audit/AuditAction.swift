/// The kinds of facts that the audit log has. The raw values are the words of exports, and are part of what the
/// chain of hashes covers: a word is never changed.
public enum AuditAction: String, Sendable, CaseIterable {
    /// A user allowed an OAuth client to act for them.
    case grantCreated = "grant_created"
    /// A user gave a grant a larger scope.
    case grantWidened = "grant_widened"
    case grantEnded = "grant_ended"
    /// A token family began: an access token, with or without a refresh token. Later refreshes belong to it.
    case tokensIssued = "tokens_issued"
    /// A token family ended before its time.
    case tokensEnded = "tokens_ended"
    case accountErased = "account_erased"
    case accountDisabled = "account_disabled"
    case accountEnabled = "account_enabled"
    case accountSignedOut = "account_signed_out"
    case accountTransferred = "account_transferred"
    /// Accounts of a page of the interface, or of a command, were handed out.
    case accountsExported = "accounts_exported"
    case auditExported = "audit_exported"
    /// Rows past their time were deleted. The detail has the number and the hash of the last of them.
    case auditPurged = "audit_purged"
    /// A part of the configuration differs from that of the last start.
    case configurationChanged = "configuration_changed"
    case signingKeyMade = "signing_key_made"
    case signingKeyRemoved = "signing_key_removed"
    case secretsResealed = "secrets_resealed"
    case deliveryResumed = "delivery_resumed"
    case deliveryReplayed = "delivery_replayed"
    case consoleSignIn = "console_sign_in"
    case consoleSignOut = "console_sign_out"
    /// An operator looked at personal data that the console masks.
    case consoleShow = "console_show"
    case requestReplayed = "request_replayed"
}

/// The outcome of what a row of the audit log tells of.
public enum AuditOutcome: String, Sendable, CaseIterable {
    case done
    /// A rule refused it, and it changed nothing. The reason has the rule's word.
    case refused
}
