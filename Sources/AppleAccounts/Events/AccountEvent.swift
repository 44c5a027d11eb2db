/// Something that changed about an account or a credential, in the order of commit.
public struct AccountEvent: Sendable, Hashable {
    /// The words on the wire.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case accountCreated = "account_created"
        case credentialAuthorized = "credential_authorized"
        case credentialRevoked = "credential_revoked"
        case emailChanged = "email_changed"
        case emailForwardingChanged = "email_forwarding_changed"
        case profileChanged = "profile_changed"
        /// The Apple Account is gone, with all that it authorized.
        case accountDeleted = "account_deleted"
        /// The account was erased here. It is the last event of the account.
        case accountErased = "account_erased"
        /// The account belongs to another team now, and the person has another `sub`.
        case accountTransferred = "account_transferred"
        /// The person agreed that an OAuth client may act for them (RFC 6749).
        case grantCreated = "grant_created"
        /// All tokens of an OAuth client for the person have ended. `grant` has the reason.
        case grantRevoked = "grant_revoked"
    }

    /// Grows in the order of commit. 0 until the store has numbered it.
    public private(set) var sequence: Int64
    public let id: EventID
    public let kind: Kind
    public let team: TeamID
    /// `nil` for a person who was erased, also in events from before the erasure.
    public let subject: AppleSubject?
    /// `nil` for a person whom this service did not know when it happened.
    public let accountID: AccountID?
    /// The primary client ID of the app that it is about; `nil` when it is about the account as a whole.
    public let clientID: ClientID?
    public let reason: CredentialReason?
    public let source: CredentialSource?
    /// The OAuth grant that it is about; `nil` for all kinds but those of grants.
    public let grant: GrantReference?
    /// When it happened, by Apple's clock.
    public let moment: Moment
    /// When it was stored, by ours.
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

    /// An event about a person who is not erased.
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

    /// `nil` for a person who was erased.
    public var key: SubjectKey? { subject.map { SubjectKey(team: team, subject: $0) } }

    /// The event as the store has numbered it.
    public func numbered(_ sequence: Int64) -> AccountEvent {
        var event = self
        event.sequence = sequence
        return event
    }
}

/// A stretch of the event feed.
public struct EventPage: Sendable, Hashable {
    public let events: [AccountEvent]
    /// Where to go on. It can be past the last event of the page, when what followed was not the reader's to
    /// see.
    public let cursor: Int64
    /// Whether there may be more right now.
    public let hasMore: Bool

    public init(events: [AccountEvent], cursor: Int64, hasMore: Bool) {
        (self.events, self.cursor, self.hasMore) = (events, cursor, hasMore)
    }
}
