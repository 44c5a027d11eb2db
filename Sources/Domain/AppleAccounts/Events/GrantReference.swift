public import Cryptography

/// The OAuth grant that an account event is about.
public struct GrantReference: Sendable, Hashable {
    public let id: GrantID
    public let oauthClientID: OAuthClientID
    /// `nil` for a grant that was created.
    public let reason: GrantEndReason?
    /// Only with `google_revoked`.
    public let googleEvent: GoogleEventReference?
    /// Double SHA-512 of a refresh token of Google's that ended with the event, by which Google finds the
    /// token. Only for tokens of whose end Google is told. Nothing that leaves the service has it except the
    /// report to Google.
    public let endedToken: SHA512Digest?

    public init(
        id: GrantID, oauthClientID: OAuthClientID, reason: GrantEndReason? = nil,
        googleEvent: GoogleEventReference? = nil, endedToken: SHA512Digest? = nil
    ) {
        (self.id, self.oauthClientID) = (id, oauthClientID)
        (self.reason, self.googleEvent, self.endedToken) = (reason, googleEvent, endedToken)
    }
}

/// Reason of the end of an OAuth grant, in the words of the event feed.
public enum GrantEndReason: String, Sendable, Hashable, CaseIterable {
    /// The app's backend ended the grant for the user.
    case unlinked
    /// The OAuth client revoked its last token (RFC 7009).
    case clientRevoked = "client_revoked"
    /// A code or refresh token was used twice (RFC 9700 §4.14).
    case tokenReused = "token_reused"
    /// Newer tokens replaced the last tokens of the grant.
    case replaced
    /// Google reported that the sessions or tokens of the linked Google account have ended.
    case googleRevoked = "google_revoked"
    case consentRevoked = "consent_revoked"
    case appleAccountDeleted = "apple_account_deleted"
    case erased
    /// The user was signed out everywhere.
    case signedOut = "signed_out"
}
