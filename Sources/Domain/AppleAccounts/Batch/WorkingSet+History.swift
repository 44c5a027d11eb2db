/// Entries that the commands leave in the histories of their accounts, beside the event feed.
extension WorkingSet {
    /// Notes a sign-in that made no event, once a day (UTC) and app: a user can sign in every minute, and a row for
    /// each sign-in would cost more than the sign-in.
    ///
    /// - Parameter lastSignInAt: Time of the sign-in to the app before this one.
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

    /// Notes an event of a notification after it was applied.
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
