import Cryptography
import Encodings
import StrictJSON

/// The claims of an honest notification.
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

    /// Refuses what would change nothing of the notification. Throws `.memberIneffective`.
    func checkEffect() throws(EmulatorError) {
        try recipe.forgery.checkEffect(on: object, hasNamedKey: basis.keys.isNamed)
        let replaced =
            recipe.forgery.claims["events"] != nil || recipe.forgery.removedClaims.contains("events")
        guard !replaced || (recipe.event.members.isEmpty && recipe.removedEventMembers.isEmpty) else {
            throw EmulatorError(
                .memberIneffective,
                detail: "event, remove_event_members: the forged claims have events of their own, or none")
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
            // A string, as it has been seen; the documentation shows one as well.
            event["is_private_email"] = .string(basis.user.hidesEmail ? "true" : "false")
        }
        event["event_time"] = .integer(recipe.eventTime ?? eventTime(issuedAt: issuedAt))
        return event
    }

    /// The clock's own milliseconds when the token is of now: two events of one second must stay in order.
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
