import Cryptography
import EmulatorServer
import Encodings
public import StrictJSON

/// The content of a server-to-server notification to mint. The default values report that the default user
/// has stopped using the app.
public struct NotificationRecipe: Sendable {
    /// A value of `NotificationType`, or any other string. Default: the account change's type, otherwise
    /// `consent-revoked`.
    public var type: String?
    /// The user's `sub` for any team. Default: the default user.
    public var subject: String?
    /// Value of `aud`. Default: the first app's primary client ID.
    public var clientID: String?
    /// The exact `event_time`. Default: the same time as `iat`, in `eventTimeUnit`.
    public var eventTime: Int64?
    public var eventTimeUnit = EventTimeUnit.milliseconds
    public var eventsForm = EventsForm.string
    /// Members to add to the event object, or to replace in it.
    public var event = JSONObject()
    public var removedEventMembers: [String] = []
    public var times = TokenTimes()
    public var forgery = Forgery()

    public init() {}
}

/// The event types that Apple sends. A recipe can also use any other string.
public enum NotificationType: String, Sendable, CaseIterable {
    case consentRevoked = "consent-revoked"
    /// The spelling in Apple's current documentation and in its notifications.
    case accountDeleted = "account-deleted"
    /// The spelling in Apple's older documentation and in most libraries.
    case accountDelete = "account-delete"
    case emailDisabled = "email-disabled"
    case emailEnabled = "email-enabled"

    /// True for events about the relay address, because they contain it.
    var carriesEmail: Bool { self == .emailDisabled || self == .emailEnabled }
}

/// The unit of `event_time`. Apple sends milliseconds, but its documentation shows seconds.
public enum EventTimeUnit: String, Sendable, CaseIterable {
    case milliseconds = "ms"
    case seconds = "s"
}

/// The JSON type of the `events` claim. Apple sends a string; its documentation shows the other types.
public enum EventsForm: String, Sendable, CaseIterable {
    /// A JSON string that contains one object.
    case string
    case object
    case array

    func claim(_ event: JSONObject) -> JSONValue {
        switch self {
        case .string: .string(String(decoding: JSONValue.object(event).serialized(), as: UTF8.self))
        case .object: .object(event)
        case .array: .array([.object(event)])
        }
    }
}

/// A notification's claims before they are forged.
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

    /// Refuses members that would not affect the notification. Throws `.memberIneffective`.
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
            // Apple uses a string here, in its notifications and in its documentation.
            event["is_private_email"] = .string(basis.user.hidesEmail ? "true" : "false")
        }
        event["event_time"] = .integer(recipe.eventTime ?? eventTime(issuedAt: issuedAt))
        return event
    }

    /// Returns the event time. It includes the clock's milliseconds if `iat` is the current time, so that two
    /// events within one second stay in order.
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
