extension SubjectRecord {
    /// Changes by an event of a notification that a caller can see.
    struct NotificationChange {
        var isAccountDeleted = false
        var isEmailChanged = false
        var isForwardingChanged = false
        /// Apps whose credentials the event ended.
        var revokedClientIDs: [ClientID] = []

        var hasChanged: Bool {
            isAccountDeleted || isEmailChanged || isForwardingChanged || !revokedClientIDs.isEmpty
        }
    }

    mutating func take(_ event: NotifiedEvent, for clientID: ClientID) -> NotificationChange {
        guard !isTombstone else {
            if event.isRevocation { moveTombstone(to: event.moment) }
            return NotificationChange()
        }
        switch event.change {
        case .consentRevoked:
            return revoke(clientID, at: event.moment)
        case .appleAccountDeleted:
            return revokeAllApps(at: event.moment, beside: clientID)
        case .emailForwarding(let forwarding, let address):
            return take(forwarding, address, at: event.moment)
        case .unknown:
            return NotificationChange()
        }
    }

    /// Moves only the time before which tokens are refused: a late revocation adds nothing else to an erased
    /// user.
    private mutating func moveTombstone(to moment: Moment) {
        let revocation = Revocation(moment: moment, reason: .erased, source: .erasure)
        guard revocationOfAllApps.map({ $0 < revocation }) ?? true else { return }
        revocationOfAllApps = revocation
        touchRow()
    }

    private mutating func revoke(_ clientID: ClientID, at moment: Moment) -> NotificationChange {
        var change = NotificationChange()
        let stateBefore = record(for: clientID).state
        let index = touchCredential(of: clientID)
        credentials[index].record.merge(
            Revocation(moment: moment, reason: .consentRevoked, source: .notification))
        // Also for an unknown user, whose state changes from "not found": callers ask by `sub`.
        if stateBefore != .revoked, record(for: clientID).state == .revoked {
            change.revokedClientIDs = [clientID]
        }
        return change
    }

    private mutating func revokeAllApps(at moment: Moment, beside clientID: ClientID) -> NotificationChange {
        var change = NotificationChange()
        let revocation = Revocation(moment: moment, reason: .appleAccountDeleted, source: .notification)
        guard revocationOfAllApps.map({ $0 < revocation }) ?? true else { return change }
        var clientIDs = credentials.map(\.clientID)
        // The app of the notification gets an event, also when the user was not known there.
        let (index, isPresent) = position(of: clientID)
        if !isPresent { clientIDs.insert(clientID, at: index) }
        let before = clientIDs.map { record(for: $0).state }
        revocationOfAllApps = revocation
        touchRow()
        change.isAccountDeleted = true
        for (clientID, stateBefore) in zip(clientIDs, before)
        where stateBefore != .revoked && record(for: clientID).state == .revoked {
            change.revokedClientIDs.append(clientID)
        }
        return change
    }

    private mutating func take(
        _ forwarding: EmailForwarding, _ address: EmailAddress?, at moment: Moment
    ) -> NotificationChange {
        var change = NotificationChange()
        let forwardingBefore = self.forwarding
        let emailBefore = email
        self.forwarding = LastWriter(forwarding, at: moment).merged(with: self.forwarding)
        if let address {
            email = LastWriter(address, at: moment).merged(with: email)
        }
        let isUnsignedReplaced = email != nil && unsignedEmail != nil
        if isUnsignedReplaced { unsignedEmail = nil }
        if self.forwarding != forwardingBefore || email != emailBefore || isUnsignedReplaced { touchRow() }
        change.isForwardingChanged = self.forwarding?.value != forwardingBefore?.value
        change.isEmailChanged = email?.value != emailBefore?.value
        return change
    }
}
