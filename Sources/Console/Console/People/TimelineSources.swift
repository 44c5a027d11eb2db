import AppleAccounts
import Encodings
import Inspection
import Pages
import SignIn
import StrictJSON

// Timeline text for each kind of stored row.

extension AccountEvent {
    /// True if the event's time comes from Apple, and false if it comes from this service's clock.
    var hasMomentOfApple: Bool {
        switch source {
        case .signIn, .notification: true
        case .dailyCheck, .erasure, nil: false
        }
    }

    /// The title, the CSS class and one sentence, for a row without a history entry.
    var words: (title: String, look: String, effect: String) {
        let client = grant?.oauthClientID.rawValue ?? "an OAuth client"
        let why = reason?.words ?? "no reason is stored"
        let ended = grant?.reason?.rawValue.replacing("_", with: " ") ?? "no reason is stored"
        return switch kind {
        case .accountCreated: ("First sign-in", "good", "The account was created.")
        case .credentialAuthorized:
            ("Sign-in", "good", "The credential is authorized from Apple's moment on.")
        case .credentialRevoked: ("Credential revoked", "bad", "The credential is revoked: \(why).")
        case .emailChanged: ("Address changed", "", "Apple signed another address.")
        case .emailForwardingChanged:
            ("Mail forwarding changed", "", "Apple changed the forwarding of mail.")
        case .profileChanged:
            ("Profile changed", "", "The app posted a name, or Apple's estimate of the user rose.")
        case .accountDeleted: ("Apple Account deleted", "bad", "The person deleted the Apple Account.")
        case .accountErased: ("Erased", "bad", "All personal data was deleted.")
        case .accountTransferred:
            ("Moved to another team", "", "The account moved to another team, and has another sub.")
        case .grantCreated: ("Grant to \(client)", "good", "The person agreed that the client acts for them.")
        case .grantRevoked: ("Grant of \(client) ended", "warn", "Tokens have ended: \(ended).")
        case .tokenRevoked: ("A token of \(client) ended", "warn", "Tokens have ended: \(ended).")
        case .accountDisabled:
            (
                "Disabled", "warn",
                "The person cannot sign in, and tokens are suspended. The audit log has the operator."
            )
        case .accountEnabled: ("Enabled", "good", "The person can sign in again.")
        case .sessionsEnded:
            ("Signed out everywhere", "warn", "All sessions and grants before this moment have ended.")
        }
    }

    var facts: [Fact] {
        [
            source.map { Fact("source", .code($0.rawValue)) },
            reason.map { Fact("reason", .code($0.rawValue)) },
            grant.map { Fact("client", .code($0.oauthClientID.rawValue)) },
            grant.map { Fact("grant", .code($0.id.rawValue)) },
            grant?.reason.map { Fact("reason", .code($0.rawValue)) },
        ].compactMap(\.self)
    }
}

extension SeenHistoryEntry {
    /// Returns true if the event in the feed reports this entry's change.
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

    /// Returns true if this notification caused the entry.
    func came(with payload: KeptPayload) -> Bool {
        kind.words.isNotification && payload.clientID == clientID && payload.moment == moment
            && payload.receivedAt == recordedAt
    }

    var item: TimelineItem {
        let (title, isRevocation, _) = kind.words
        let (look, effect) = result
        let comparison = decidedBy.map { (revokedAt: moment, authorizedAt: $0) }
        return TimelineItem(
            title: title, look: look, app: clientID, moment: hasMomentOfApple ? moment : nil,
            recordedAt: recordedAt, effect: effect,
            comparison: outcome == .overtaken && isRevocation ? comparison : nil,
            facts: [
                cause.map { Fact("cause", .code($0.rawValue)) },
                decidedBy.map { Fact("decided by", .code($0.rfc3339)) },
            ].compactMap(\.self))
    }

    /// False if Apple sent no time, so that the entry has a time from this service's clock.
    private var hasMomentOfApple: Bool {
        switch kind {
        case .signIn, .exchange, .consentRevoked, .appleAccountDeleted, .emailForwarding: cause == nil
        case .refreshTokenRejected: false
        }
    }

    private var result: (look: String, effect: String) {
        switch outcome {
        case .changed:
            guard kind.words.isRevocation else { return ("", "Stored.") }
            let moment = hasMomentOfApple ? "Apple's moment on" : "the moment on at which Apple was asked"
            return ("bad", "The credential is revoked from \(moment).")
        case .overtaken:
            guard let decidedBy else { return ("warn", "Changed nothing.") }
            let later = kind.words.isRevocation ? "the authorization" : "what is stored"
            let distance = ShownDuration(from: moment, to: decidedBy)
            return ("warn", "Came too late: \(later) is later by \(distance). Changed nothing.")
        case .alreadySo where kind == .signIn:
            return ("good", "The first sign-in of the day to this app. Nothing new.")
        case .alreadySo: return ("", "It was so already. Changed nothing.")
        case .tokenKept: return ("good", "Apple's refresh token is held.")
        case .tokenSuperseded: return ("", "A token of a later authorization was held already.")
        case .tokenDropped: return ("warn", "The authorization had been revoked. The token was not kept.")
        case .tokenUnavailable: return ("warn", "There is no refresh token of this code.")
        case .ignored: return ("", "It was about a token that is not held any more. Changed nothing.")
        }
    }
}

extension HistoryEntry.Kind {
    fileprivate var words: (title: String, isRevocation: Bool, isNotification: Bool) {
        switch self {
        case .signIn: ("Sign-in", false, false)
        case .exchange: ("Exchange of the authorization code", false, false)
        case .consentRevoked: ("Apple's notification: consent withdrawn", true, true)
        case .appleAccountDeleted: ("Apple's notification: Apple Account deleted", true, true)
        case .emailForwarding: ("Apple's notification: mail forwarding", false, true)
        case .refreshTokenRejected: ("Check: Apple refused the refresh token", true, false)
        }
    }
}

extension KeptPayload {
    /// Returns true if the event in the feed comes from this payload.
    func made(_ event: AccountEvent) -> Bool {
        event.source == .notification && event.moment == moment && event.recordedAt == receivedAt
            && (event.clientID == nil || event.clientID == clientID)
    }

    /// Returns a row for a notification without a history entry.
    func item(account: Account?, isShown: Bool) -> TimelineItem {
        let isEarlier = account.map { receivedAt < $0.createdAt } ?? false
        return TimelineItem(
            title: "Apple's notification: \(type)", look: "", app: clientID, moment: moment,
            recordedAt: receivedAt,
            effect: isEarlier
                ? "It came before the account was known here. Its moment counts in the state rule."
                : "It is kept in the inbox. The history has no entry about its effect any more.",
            facts: facts(isShown: isShown))
    }

    /// Returns the claims without the signature, so that nothing on a page can be used as a token.
    func facts(isShown: Bool) -> [Fact] {
        let parts = payload.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(Array(parts[1])[...]),
            let claims = try? JSONValue(parsing: bytes).object
        else { return [Fact("payload", .code("not readable"))] }
        func fact(_ name: String, _ value: JSONValue, of claim: String) -> Fact {
            let shown = isShown ? value : PersonMask.masked(value, of: claim)
            let text = shown.string ?? String(decoding: shown.serialized(), as: UTF8.self)
            let moment = Self.moment(claim, value).map { " (\($0.shown))" } ?? ""
            return Fact(.text(name), .code(text + moment))
        }
        return claims.members.flatMap { name, value in
            let events = name == "events" ? Self.events(value) : []
            guard !events.isEmpty else { return [fact(name, value, of: name)] }
            return events.enumerated().flatMap { index, event in
                let prefix = events.count == 1 ? "events" : "events.\(index + 1)"
                return event.members.map { fact("\(prefix).\($0.name)", $0.value, of: $0.name) }
            }
        }
    }

    /// Returns the events. Apple sends an object or an array of objects, sometimes encoded as a string.
    private static func events(_ value: JSONValue) -> [JSONObject] {
        let inner = value.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? value
        return (inner.array ?? [inner]).compactMap(\.object)
    }

    /// Returns a number as a time: Apple's claims have seconds, and its events have milliseconds.
    private static func moment(_ claim: String, _ value: JSONValue) -> Moment? {
        guard let number = value.integer else { return nil }
        switch claim {
        case "iat", "exp": return Moment(seconds: number)
        case "event_time": return Moment(milliseconds: number)
        default: return nil
        }
    }
}
