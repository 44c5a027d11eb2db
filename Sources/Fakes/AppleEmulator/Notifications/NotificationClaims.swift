import Cryptography
import EmulatorServer
import Encodings
import StrictJSON

/// The claims of a notification before a forgery.
struct NotificationClaims {
    let recipe: NotificationRecipe
    let basis: NotificationBasis
    let nowMilliseconds: Int64

    var object: JSONObject {
        let (issuedAt, expiresAt) = recipe.times.resolved(nowMilliseconds: nowMilliseconds)
        return JSONObject([
            ("iss", .string(IdentityTokenClaims.issuer)), ("aud", .string(basis.clientID)),
            ("exp", .integer(expiresAt)),
            ("iat", .integer(issuedAt)), ("jti", .string(Base64URL.encode(SecureRandom.bytes(count: 16)))),
            ("events", recipe.eventsForm.claim(event(issuedAt: issuedAt))),
        ])
    }

    /// Refuses members without effect on the notification. Throws `.memberIneffective`.
    func checkEffect() throws(EmulatorError) {
        try recipe.forgery.checkEffect(on: object, hasNamedKey: basis.keys.isNamed)
        let replaced =
            recipe.forgery.claims["events"] != nil || recipe.forgery.removedClaims.contains("events")
        guard !replaced || (recipe.event.members.isEmpty && recipe.removedEventMembers.isEmpty) else {
            throw EmulatorError(
                .memberIneffective,
                detail:
                    "event, remove_event_members: have no effect, because claims or remove_claims change events"
            )
        }
        try Forgery.checkRemoval(
            of: recipe.removedEventMembers, "remove_event_members", from: honestEvent(issuedAt: 0),
            beside: recipe.event, "event")
    }

    private func event(issuedAt: Int64) -> JSONObject {
        var event = honestEvent(issuedAt: issuedAt)
        for (name, value) in recipe.event.members { event[name] = value }
        for name in recipe.removedEventMembers { event[name] = nil }
        return event
    }

    private func honestEvent(issuedAt: Int64) -> JSONObject {
        var event = JSONObject([("type", .string(basis.type)), ("sub", .string(basis.identity.subject))])
        if NotificationType(rawValue: basis.type)?.carriesEmail == true {
            event["email"] = basis.user.shownEmail(to: basis.identity).map { .string($0) }
            // A string, as in Apple's notifications and documentation.
            event["is_private_email"] = .string(basis.user.hidesEmail ? "true" : "false")
        }
        event["event_time"] = .integer(recipe.eventTime ?? eventTime(issuedAt: issuedAt))
        return event
    }

    /// Time of the event. It has the milliseconds of the clock when `iat` is now, so that two events within
    /// one second stay in order.
    private func eventTime(issuedAt: Int64) -> Int64 {
        switch recipe.eventTimeUnit {
        case .seconds: return issuedAt
        case .milliseconds:
            if issuedAt == nowMilliseconds / 1000 { return nowMilliseconds }
            let (milliseconds, overflow) = issuedAt.multipliedReportingOverflow(by: 1000)
            return overflow ? issuedAt : milliseconds
        }
    }
}

/// The data for a notification, read under one lock, so that signing needs no lock.
struct NotificationBasis {
    let type: String
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let keys: SigningKeys
}
