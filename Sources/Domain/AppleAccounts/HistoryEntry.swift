/// A fact about an account that the event feed omits or shortens: a sign-in without news, the end of an
/// exchange, a late notification, Apple's refusal of a refresh token.
///
/// Entries are for operators who inspect one account. No rule reads them. They are bounded in
/// number and age, and an erasure removes them.
public struct HistoryEntry: Sendable, Hashable {
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The first sign-in to the app on a day (UTC) that changed only the
        /// time. Sign-ins with news are in the event feed.
        case signIn
        /// The end of the exchange of an authorization code.
        case exchange
        case consentRevoked
        case appleAccountDeleted
        case emailForwarding
        /// Apple refused a refresh token at a check.
        case refreshTokenRejected
    }

    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// The account has changed.
        case changed
        /// The fact arrived late: a fact with a later moment decides, and the account did not change.
        case overtaken
        /// The account already had this state.
        case alreadySo
        /// The service holds Apple's refresh token.
        case tokenKept
        /// The same token, or a token of a later authorization, was already held.
        case tokenSuperseded
        /// The token was not stored, because its authorization has been revoked.
        case tokenDropped
        /// There was no token; `cause` has the reason.
        case tokenUnavailable
        /// The fact was about a token that is not held any more.
        case ignored
    }

    /// The largest number of entries of an account. Above it the oldest entries are deleted.
    public static let mostPerAccount: Int64 = 200
    /// Milliseconds after which an entry is deleted: 90 days.
    public static let keptFor: Int64 = 90 * 86_400_000

    public let accountID: AccountID
    public let kind: Kind
    /// The primary client ID of the app of the fact.
    public let clientID: ClientID
    public let outcome: Outcome
    /// Apple's moment of the fact; our moment if Apple sent none.
    public let moment: Moment
    /// Time of the record, by our clock.
    public let recordedAt: Moment
    /// Moment of the deciding fact, when the entry changed nothing.
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

/// Entries that commands append to the histories of their accounts, in addition to the event feed.
extension WorkingSet {
    /// Records a sign-in that made no event, once a day (UTC) and app: a user can sign in every minute, and a
    /// row for each sign-in would cost more than the sign-in.
    ///
    /// - Parameter lastSignInAt: Time of the previous sign-in to the app.
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

    /// Records an event of a notification after it was applied.
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
    /// The number of the day (UTC) since 1970.
    var day: Int64 { milliseconds / 86_400_000 }
}
