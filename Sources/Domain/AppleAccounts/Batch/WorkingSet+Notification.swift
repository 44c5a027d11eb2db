extension WorkingSet {
    /// Applies a notification once, also after repeated deliveries and when one batch has it twice.
    mutating func apply(
        _ command: NotificationCommand, using generator: inout some RandomNumberGenerator
    ) -> NotificationReceipt {
        guard !knownInboxIdentifiers.contains(command.identifier) else { return .duplicate }
        var newKeys: [InboxKey] = []
        var newEvents: [NotifiedEvent] = []
        var isErased = false
        for event in command.events {
            if let key = InboxKey(event, of: command) {
                guard knownInboxKeys.insert(key).inserted else { continue }
                // The key names the user; without a key a repetition only repeats the same changes.
                if subjects[position(of: SubjectKey(team: command.team, subject: key.subject))].isTombstone {
                    isErased = true
                } else {
                    newKeys.append(key)
                }
            }
            newEvents.append(event)
        }
        // A repetition under another identifier: nothing to keep.
        guard !newEvents.isEmpty || command.events.isEmpty else { return .duplicate }

        var receipt = NotificationReceipt.unknownType
        for event in newEvents where event.change != .unknown {
            guard let subject = event.subject else { continue }
            let key = SubjectKey(team: command.team, subject: subject)
            let hasChanged = take(event, of: key, in: command, using: &generator)
            if receipt != .applied { receipt = hasChanged ? .applied : .unchanged }
        }
        knownInboxIdentifiers.insert(command.identifier)
        keptNotifications.append(
            KeptNotification(
                command: command, receipt: receipt, newInboxKeys: newKeys, isErased: isErased))
        return receipt
    }

    /// Returns true if the state of the user changed.
    private mutating func take(
        _ event: NotifiedEvent, of key: SubjectKey, in command: NotificationCommand,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        let position = position(of: key)
        let change = subjects[position].take(event, for: command.clientID)
        let accountID = subjects[position].accountID
        if event.isRevocation {
            let isOfAllApps = event.change == .appleAccountDeleted
            dropAppleTokens(of: position, app: isOfAllApps ? nil : command.clientID, upTo: event.moment)
        }

        func append(_ kind: AccountEvent.Kind, clientID: ClientID? = nil, reason: CredentialReason? = nil) {
            events.append(
                AccountEvent(
                    id: EventID(UniqueID(at: command.receivedAt, using: &generator)), kind: kind, key: key,
                    accountID: accountID, clientID: clientID, reason: reason, source: .notification,
                    moment: event.moment, recordedAt: command.receivedAt))
        }
        // Facts about a user without an account are not visible yet, except for the credential.
        if accountID != nil {
            if change.isAccountDeleted { append(.accountDeleted, reason: .appleAccountDeleted) }
            if change.isForwardingChanged { append(.emailForwardingChanged) }
            if change.isEmailChanged { append(.emailChanged) }
        }
        for clientID in change.revokedClientIDs {
            append(
                .credentialRevoked, clientID: clientID,
                reason: subjects[position].record(for: clientID).reason)
        }
        if let accountID { note(event, change, of: accountID, at: position, in: command) }
        // Also when a later sign-in keeps the credential authorized: earlier authorizations have ended.
        if let accountID, let reason = event.change.grantEndReason {
            credentialEnds.append(
                CredentialEnd(
                    accountID: accountID, key: key,
                    clientID: event.change == .appleAccountDeleted ? nil : command.clientID,
                    moment: event.moment, reason: reason, source: .notification,
                    recordedAt: command.receivedAt, eventIndex: events.count, origin: .apple))
        }
        return change.hasChanged
    }
}

extension NotifiedEvent.Change {
    /// Reason of the end of tokens by this event; `nil` when no tokens end.
    fileprivate var grantEndReason: GrantEndReason? {
        switch self {
        case .consentRevoked: .consentRevoked
        case .appleAccountDeleted: .appleAccountDeleted
        case .emailForwarding, .unknown: nil
        }
    }
}
