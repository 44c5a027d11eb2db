public import Cryptography

/// A change to an account or credential. Events are numbered in commit order.
public struct AccountEvent: Sendable, Hashable {
    /// Kinds of account events. The raw values appear in the event feed.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case accountCreated = "account_created"
        case credentialAuthorized = "credential_authorized"
        case credentialRevoked = "credential_revoked"
        case emailChanged = "email_changed"
        case emailForwardingChanged = "email_forwarding_changed"
        case profileChanged = "profile_changed"
        /// The Apple Account was deleted, along with all its authorizations.
        case accountDeleted = "account_deleted"
        /// The service erased the account. This is the account's last event.
        case accountErased = "account_erased"
        /// The account moved to another team, where the user has another `sub`.
        case accountTransferred = "account_transferred"
        /// The user allowed an OAuth client to act for them (RFC 6749).
        case grantCreated = "grant_created"
        /// All of an OAuth client's tokens for the user have ended; `grant` has the reason.
        case grantRevoked = "grant_revoked"
        /// This service disabled the account, so its tokens are suspended.
        case accountDisabled = "account_disabled"
        /// The account was enabled, or its disabled period expired.
        case accountEnabled = "account_enabled"
        /// The user was signed out everywhere, so every session has ended.
        case sessionsEnded = "sessions_ended"
        /// A Google refresh token has ended. If its grant ends too, a `grant_revoked` event follows.
        case tokenRevoked = "token_revoked"
    }

    /// Sequence number, in commit order; 0 until the store has numbered the event.
    public private(set) var sequence: Int64
    public let id: EventID
    public let kind: Kind
    public let team: TeamID
    /// The user; `nil` if the user was erased, even in events from before the erasure.
    public let subject: AppleSubject?
    /// The account; `nil` if the user was unknown to this service at the time of the event.
    public let accountID: AccountID?
    /// Primary client ID of the affected app; `nil` if the event is about the account as a whole.
    public let clientID: ClientID?
    public let reason: CredentialReason?
    public let source: CredentialSource?
    /// The OAuth grant; only for events about a grant or its tokens.
    public let grant: GrantReference?
    /// Time of the change, by Apple's clock.
    public let moment: Moment
    /// Time of storage, by the service's clock.
    public let recordedAt: Moment

    public init(
        sequence: Int64 = 0, id: EventID, kind: Kind, team: TeamID, subject: AppleSubject?,
        accountID: AccountID? = nil, clientID: ClientID? = nil, reason: CredentialReason? = nil,
        source: CredentialSource? = nil, grant: GrantReference? = nil, moment: Moment, recordedAt: Moment
    ) {
        self.sequence = sequence
        self.id = id
        self.kind = kind
        self.team = team
        self.subject = subject
        self.accountID = accountID
        self.clientID = clientID
        self.reason = reason
        self.source = source
        self.grant = grant
        self.moment = moment
        self.recordedAt = recordedAt
    }

    /// Creates an event about a user who has not been erased.
    public init(
        sequence: Int64 = 0, id: EventID, kind: Kind, key: SubjectKey, accountID: AccountID? = nil,
        clientID: ClientID? = nil, reason: CredentialReason? = nil, source: CredentialSource? = nil,
        grant: GrantReference? = nil, moment: Moment, recordedAt: Moment
    ) {
        self.init(
            sequence: sequence, id: id, kind: kind, team: key.team, subject: key.subject,
            accountID: accountID, clientID: clientID, reason: reason, source: source, grant: grant,
            moment: moment, recordedAt: recordedAt)
    }

    /// The user's key; `nil` for an erased user.
    public var key: SubjectKey? { subject.map { SubjectKey(team: team, subject: $0) } }

    /// Returns the event with the sequence number from the store.
    public func numbered(_ sequence: Int64) -> AccountEvent {
        var event = self
        event.sequence = sequence
        return event
    }
}

/// A page of the event feed.
public struct EventPage: Sendable, Hashable {
    public let events: [AccountEvent]
    /// Position of the next page. It can be beyond this page's last
    /// event, if the events in between are not visible to the reader.
    public let cursor: Int64
    /// True if the store may already have more events.
    public let hasMore: Bool

    public init(events: [AccountEvent], cursor: Int64, hasMore: Bool) {
        (self.events, self.cursor, self.hasMore) = (events, cursor, hasMore)
    }
}

/// The OAuth grant that an account event is about.
public struct GrantReference: Sendable, Hashable {
    public let id: GrantID
    public let oauthClientID: OAuthClientID
    /// Reason why the grant ended; `nil` for a new grant.
    public let reason: GrantEndReason?
    /// Google's event; present only with `google_revoked`.
    public let googleEvent: GoogleEventReference?
    /// Double SHA-512 of the Google refresh token that ended with the event. Google finds the token by this
    /// digest. Present only if the service reports the token's end to Google; it appears in no other
    /// output.
    public let endedToken: SHA512Digest?

    public init(
        id: GrantID, oauthClientID: OAuthClientID, reason: GrantEndReason? = nil,
        googleEvent: GoogleEventReference? = nil, endedToken: SHA512Digest? = nil
    ) {
        (self.id, self.oauthClientID) = (id, oauthClientID)
        (self.reason, self.googleEvent, self.endedToken) = (reason, googleEvent, endedToken)
    }
}

/// Reason why an OAuth grant ended. The raw values appear in the event feed.
public enum GrantEndReason: String, Sendable, Hashable, CaseIterable {
    /// The app's backend ended the grant for the user.
    case unlinked
    /// The OAuth client revoked its last token (RFC 7009).
    case clientRevoked = "client_revoked"
    /// A client used a code or refresh token twice (RFC 9700 §4.14).
    case tokenReused = "token_reused"
    /// Newer tokens replaced the grant's last tokens.
    case replaced
    /// Google reported that the linked Google account's sessions or tokens have ended.
    case googleRevoked = "google_revoked"
    case consentRevoked = "consent_revoked"
    case appleAccountDeleted = "apple_account_deleted"
    case erased
    /// The user was signed out everywhere.
    case signedOut = "signed_out"
}

/// The Google security event that ended an OAuth grant.
public struct GoogleEventReference: Sendable, Hashable {
    public let kind: GoogleEventKind
    /// The reason; `nil` if Google gave no reason, or a reason that this version does not know.
    public let reason: GoogleEventReason?

    public init(kind: GoogleEventKind, reason: GoogleEventReason? = nil) {
        (self.kind, self.reason) = (kind, reason)
    }
}

/// The kinds of Google security events: the last part of the event URI (Cross-Account Protection).
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

/// The reasons for `account-disabled`. The raw values are Google's.
public enum GoogleEventReason: String, Sendable, Hashable, CaseIterable {
    /// An attacker had taken over the Google account.
    case hijacking
    /// The Google account was one of many that were created automatically.
    case bulkAccount = "bulk-account"
}
