/// A fact about an account that the event feed omits or shortens: a sign-in that changed nothing else, the
/// end of a code exchange, a late notification, or a refresh token refused by Apple.
///
/// Entries are for operators who inspect an account; no rule reads them. They are limited in number and age,
/// and an erasure removes them.
public struct HistoryEntry: Sendable, Hashable {
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The day's first sign-in to the app (in UTC) that changed nothing but the time. Sign-ins that
        /// changed more are in the event feed.
        case signIn
        /// The end of an authorization code exchange.
        case exchange
        case consentRevoked
        case appleAccountDeleted
        case emailForwarding
        /// Apple refused a refresh token in a check.
        case refreshTokenRejected
    }

    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// The account changed.
        case changed
        /// The fact arrived late. A fact with a later time takes precedence, so the account did not change.
        case overtaken
        /// The account was already in this state.
        case alreadySo
        /// The service holds Apple's refresh token.
        case tokenKept
        /// The service already held this token, or a token from a later authorization.
        case tokenSuperseded
        /// The token was not stored, because its authorization had been revoked.
        case tokenDropped
        /// There was no token; `cause` has the reason.
        case tokenUnavailable
        /// The fact was about a token that is no longer held.
        case ignored
    }

    /// Maximum number of entries per account. Above the limit, the oldest entries are deleted.
    public static let mostPerAccount: Int64 = 200
    /// Retention time of an entry, in milliseconds: 90 days.
    public static let keptFor: Int64 = 90 * 86_400_000

    public let accountID: AccountID
    public let kind: Kind
    /// The primary client ID of the affected app.
    public let clientID: ClientID
    public let outcome: Outcome
    /// Time of the fact by Apple's clock, or by ours if Apple sent none.
    public let moment: Moment
    /// Time of recording, by our clock.
    public let recordedAt: Moment
    /// Time of the fact that took precedence, if this entry changed nothing.
    public let decidedBy: Moment?
    public let cause: RefreshTokenCause?

    public init(
        accountID: AccountID, kind: Kind, clientID: ClientID, outcome: Outcome, moment: Moment,
        recordedAt: Moment, decidedBy: Moment? = nil, cause: RefreshTokenCause? = nil
    ) {
        self.accountID = accountID
        self.kind = kind
        self.clientID = clientID
        self.outcome = outcome
        self.moment = moment
        self.recordedAt = recordedAt
        self.decidedBy = decidedBy
        self.cause = cause
    }
}

/// Entries that commands append to account histories, in addition to the event feed.
extension WorkingSet {
    /// Records a sign-in that produced no event, at most once per day (UTC) and app. A user can sign in every
    /// minute, and a row for each sign-in would cost more than the sign-in itself.
    ///
    /// - Parameter lastSignInAt: Time of the previous sign-in to this app.
    mutating func noteSignIn(_ command: SignInCommand, of id: AccountID, after lastSignInAt: Moment?) {
        guard lastSignInAt.map({ $0.day < command.receivedAt.day }) ?? true else { return }
        history.append(
            HistoryEntry(
                accountID: id, kind: .signIn, clientID: command.clientID, outcome: .alreadySo,
                moment: command.authorizedAt, recordedAt: command.receivedAt))
    }

    mutating func note(_ receipt: ExchangeReceipt, of command: ExchangeCommand) {
        let (outcome, moment, cause): (HistoryEntry.Outcome, Moment, RefreshTokenCause?) =
            switch (receipt, command.outcome) {
            case (.kept, .token(_, _, let moment, _)): (.tokenKept, moment, nil)
            case (.superseded, .token(_, _, let moment, _)): (.tokenSuperseded, moment, nil)
            case (.dropped, .token(_, _, let moment, _)): (.tokenDropped, moment, nil)
            case (.unavailable, .token(_, _, let moment, _)): (.tokenUnavailable, moment, nil)
            case (_, .unavailable(let cause)): (.tokenUnavailable, command.receivedAt, cause)
            }
        history.append(
            HistoryEntry(
                accountID: command.accountID, kind: .exchange, clientID: command.primaryClientID,
                outcome: outcome, moment: moment, recordedAt: command.receivedAt, cause: cause))
    }

    mutating func note(_ receipt: RejectionReceipt, of command: RejectionCommand, at moment: Moment) {
        let record = subjects[position(of: command.key)].record(for: command.primaryClientID)
        let (outcome, decidedBy): (HistoryEntry.Outcome, Moment?) =
            switch receipt {
            case .revoked: record.state == .revoked ? (.changed, nil) : (.overtaken, record.since)
            case .dropped: (.alreadySo, record.revocation?.moment)
            case .ignored: (.ignored, nil)
            }
        history.append(
            HistoryEntry(
                accountID: command.accountID, kind: .refreshTokenRejected, clientID: command.primaryClientID,
                outcome: outcome, moment: moment, recordedAt: command.moment, decidedBy: decidedBy))
    }

    /// Records an event from a notification after it was applied.
    mutating func note(
        _ event: NotifiedEvent, _ change: SubjectRecord.NotificationChange, of id: AccountID,
        at position: Int, in command: NotificationCommand
    ) {
        let subject = subjects[position]
        let kind: HistoryEntry.Kind
        let hasChanged: Bool
        let decidedBy: Moment?
        switch event.change {
        case .consentRevoked:
            kind = .consentRevoked
            hasChanged = !change.revokedClientIDs.isEmpty
            decidedBy = subject.record(for: command.clientID).since
        case .appleAccountDeleted:
            kind = .appleAccountDeleted
            let records = subject.credentials.map { subject.record(for: $0.clientID) }
            let later = records.first { $0.state == .authorized }?.since
            hasChanged = !change.revokedClientIDs.isEmpty || (change.isAccountDeleted && later == nil)
            decidedBy = later ?? subject.revocationOfAllApps?.moment
        case .emailForwarding:
            kind = .emailForwarding
            hasChanged = change.isForwardingChanged || change.isEmailChanged
            decidedBy = subject.forwarding?.moment
        case .unknown:
            return
        }
        let isOvertaken = decidedBy.map { $0 > event.moment } ?? false
        history.append(
            HistoryEntry(
                accountID: id, kind: kind, clientID: command.clientID,
                outcome: hasChanged ? .changed : isOvertaken ? .overtaken : .alreadySo, moment: event.moment,
                recordedAt: command.receivedAt, decidedBy: hasChanged ? nil : decidedBy))
    }
}

extension Moment {
    /// The number of days (UTC) since 1970.
    var day: Int64 { milliseconds / 86_400_000 }
}
