import AppleAccounts
import SignIn

extension SeenHistoryEntry {
    /// Returns true if an event tells of the same.
    func made(_ event: AccountEvent) -> Bool {
        guard event.recordedAt == recordedAt, event.moment == moment, event.grant == nil else { return false }
        switch kind {
        case .signIn, .exchange: return false
        case .consentRevoked, .emailForwarding:
            return event.source == .notification && (event.clientID == nil || event.clientID == clientID)
        case .appleAccountDeleted: return event.source == .notification
        case .refreshTokenRejected: return event.source == .dailyCheck && event.clientID == clientID
        }
    }

    /// Returns true if the entry is about this notification.
    func came(with payload: KeptPayload) -> Bool {
        switch kind {
        case .consentRevoked, .appleAccountDeleted, .emailForwarding:
            payload.clientID == clientID && payload.moment == moment && payload.receivedAt == recordedAt
        case .signIn, .exchange, .refreshTokenRejected: false
        }
    }

    func item(payload: KeptPayload?, events: [AccountEvent]) -> TimelineItem {
        var item = TimelineItem(
            title: kind.title, look: look, app: clientID, moment: hasMomentOfApple ? moment : nil,
            recordedAt: recordedAt, effect: effect)
        if outcome == .overtaken, let decidedBy, kind.isRevocation {
            item.comparison = TimelineItem.Comparison(revokedAt: moment, authorizedAt: decidedBy)
        }
        var facts: [TimelineItem.Fact] = []
        if let cause { facts.append(TimelineItem.Fact(name: "cause", value: cause.rawValue)) }
        if let decidedBy { facts.append(TimelineItem.Fact(name: "decided by", value: decidedBy.rfc3339)) }
        item.facts = facts + (payload?.facts ?? [])
        item.events = events
        return item
    }

    /// False where Apple sent no moment, so that ours is stored.
    private var hasMomentOfApple: Bool {
        switch kind {
        case .signIn, .exchange, .consentRevoked, .appleAccountDeleted, .emailForwarding: cause == nil
        case .refreshTokenRejected: false
        }
    }

    private var look: TimelineItem.Look {
        switch outcome {
        case .overtaken: .warn
        case .changed: kind.isRevocation ? .bad : .plain
        case .tokenKept: .good
        case .tokenDropped, .tokenUnavailable: .warn
        case .alreadySo: kind == .signIn ? .good : .plain
        case .tokenSuperseded, .ignored: .plain
        }
    }

    private var effect: String {
        switch outcome {
        case .changed:
            guard kind.isRevocation else { return "Stored." }
            return hasMomentOfApple
                ? "The credential is revoked from Apple's moment on."
                : "The credential is revoked from the moment on at which Apple was asked."
        case .overtaken:
            guard let decidedBy else { return "Changed nothing." }
            let distance = ShownDuration(from: moment, to: decidedBy)
            return kind.isRevocation
                ? "Came too late: the authorization is later by \(distance). Changed nothing."
                : "Came too late: what is stored is later by \(distance). Changed nothing."
        case .alreadySo:
            return kind == .signIn
                ? "The first sign-in of the day to this app. Nothing new."
                : "It was so already. Changed nothing."
        case .tokenKept: return "Apple's refresh token is held."
        case .tokenSuperseded: return "A token of a later authorization was held already."
        case .tokenDropped: return "The authorization had been revoked. The token was not kept."
        case .tokenUnavailable: return "There is no refresh token of this code."
        case .ignored: return "It was about a token that is not held any more. Changed nothing."
        }
    }
}

extension HistoryEntry.Kind {
    var title: String {
        switch self {
        case .signIn: "Sign-in"
        case .exchange: "Exchange of the authorization code"
        case .consentRevoked: "Apple's notification: consent withdrawn"
        case .appleAccountDeleted: "Apple's notification: Apple Account deleted"
        case .emailForwarding: "Apple's notification: mail forwarding"
        case .refreshTokenRejected: "Check: Apple refused the refresh token"
        }
    }

    var isRevocation: Bool {
        switch self {
        case .consentRevoked, .appleAccountDeleted, .refreshTokenRejected: true
        case .signIn, .exchange, .emailForwarding: false
        }
    }
}
