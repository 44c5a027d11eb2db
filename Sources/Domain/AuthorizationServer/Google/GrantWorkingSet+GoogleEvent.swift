import AppleAccounts

extension GrantWorkingSet {
    /// Applies a security event of Google, once for each `jti`. Events that arrive in another order leave the
    /// same state.
    mutating func apply(
        _ command: GoogleEventCommand, using generator: inout some RandomNumberGenerator
    ) -> GoogleEventReceipt {
        guard keep(command) else { return .duplicate }
        var unmatched: [GoogleEventKind] = []
        for event in command.events {
            // Asked before the changes, because they end what the event names.
            if !isMatched(event) { unmatched.append(event.kind) }
            for change in event.changes {
                apply(change, event.reference, at: command.receivedAt, using: &generator)
            }
        }
        return GoogleEventReceipt(.applied, unmatched: unmatched)
    }

    private mutating func apply(
        _ change: GoogleEventCommand.Change, _ event: GoogleEventReference, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        switch change {
        case .endFamilies(let subject, let moment, let clients):
            // A late event does not end a link that was made after it.
            endFamilies(of: clients, event, at: now, using: &generator) {
                $0.isLinked(with: subject) && $0.linkedAt <= moment
            }
        case .endToken(let digest, let clients, let subject):
            if let subject {
                for grant in grants(of: clients, where: { $0.refreshToken?.doubleSHA512 == digest }) {
                    learn(googleSubject: subject, of: grant.id)
                }
            }
            endFamilies(of: clients, event, at: now, using: &generator) {
                $0.refreshToken?.doubleSHA512 == digest
            }
            // What was learned just now belongs to a disabled account too.
            if let subject, isDisabled(googleSubject: subject) {
                endFamilies(of: nil, event, at: now, using: &generator) { $0.isLinked(with: subject) }
            }
        case .disable(let subject, let moment):
            update(with: GoogleAccountRecord(subject: subject, isDisabled: true, moment: moment))
            // Unless Google has enabled the account since. A token family can be younger than the event,
            // because delivery takes time, and no link of a disabled account is valid.
            guard isDisabled(googleSubject: subject) else { break }
            endFamilies(of: nil, event, at: now, using: &generator) { $0.isLinked(with: subject) }
        case .enable(let subject, let moment):
            update(with: GoogleAccountRecord(subject: subject, isDisabled: false, moment: moment))
        case .name: break
        }
    }

    /// Returns `true` if the event names a Google account or a token of a link here, also of an older or
    /// younger link than the event ends. A verification names nothing.
    private func isMatched(_ event: GoogleEventCommand.Event) -> Bool {
        guard event.kind != .verification else { return true }
        return event.changes.contains { change in
            switch change {
            case .endFamilies(let subject, _, let clients):
                hasFamily(of: clients) { $0.isLinked(with: subject) }
            case .endToken(let digest, let clients, _):
                hasFamily(of: clients) { $0.refreshToken?.doubleSHA512 == digest }
            case .disable(let subject, _), .name(let subject):
                hasFamily(of: nil) { $0.isLinked(with: subject) }
            // The links of a disabled account have ended, so only the statement is left.
            case .enable(let subject, _):
                hasStatement(about: subject) || hasFamily(of: nil) { $0.isLinked(with: subject) }
            }
        }
    }

    /// - Parameter clients: `nil` for all.
    private func hasFamily(of clients: Set<OAuthClientID>?, where isMeant: (TokenFamily) -> Bool) -> Bool {
        !grants(of: clients, where: isMeant).isEmpty
    }

    /// Ends token families, and no other families of their grants.
    ///
    /// - Parameter clients: `nil` for all.
    private mutating func endFamilies(
        of clients: Set<OAuthClientID>?, _ event: GoogleEventReference, at now: Moment,
        using generator: inout some RandomNumberGenerator, where isMeant: (TokenFamily) -> Bool
    ) {
        for grant in grants(of: clients, where: isMeant) {
            endFamilies(
                of: grant, reason: .googleRevoked, googleEvent: event, at: now, using: &generator,
                where: isMeant)
        }
    }

    private func grants(
        of clients: Set<OAuthClientID>?, where isMeant: (TokenFamily) -> Bool
    ) -> [GrantRecord] {
        ledger.all { grant in
            (clients?.contains(grant.record.oauthClientID) ?? true) && grant.families.contains(where: isMeant)
        }.map(\.record)
    }
}
