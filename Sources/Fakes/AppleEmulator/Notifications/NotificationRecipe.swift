public import StrictJSON

/// The content of a server-to-server notification to mint. The default says that the default user has stopped
/// using the app.
public struct NotificationRecipe: Sendable {
    /// A value of `NotificationType`, or any other string. Default: the type of the account change, otherwise
    /// `consent-revoked`.
    public var type: String?
    /// The `sub` of a user for any team. Default: the default user.
    public var subject: String?
    /// The `aud`. Default: the primary client ID of the first app.
    public var clientID: String?
    /// The exact `event_time`. Default: the time of `iat` in `eventTimeUnit`.
    public var eventTime: Int64?
    public var eventTimeUnit = EventTimeUnit.milliseconds
    public var eventsForm = EventsForm.string
    /// Members of the event object to add or to replace.
    public var event = JSONObject()
    public var removedEventMembers: [String] = []
    public var times = TokenTimes()
    public var forgery = Forgery()

    public init() {}
}

/// The event types that Apple sends. Any other string can be sent too.
public enum NotificationType: String, Sendable, CaseIterable {
    case consentRevoked = "consent-revoked"
    /// The spelling of Apple's current documentation and of its notifications.
    case accountDeleted = "account-deleted"
    /// The spelling of Apple's older documentation and of most libraries.
    case accountDelete = "account-delete"
    case emailDisabled = "email-disabled"
    case emailEnabled = "email-enabled"

    /// True for events about the relay address, which contain the address.
    var carriesEmail: Bool { self == .emailDisabled || self == .emailEnabled }
}

/// The unit of `event_time`. Apple sends milliseconds; its documentation shows seconds.
public enum EventTimeUnit: String, Sendable, CaseIterable {
    case milliseconds = "ms"
    case seconds = "s"
}

/// The JSON type of the `events` claim. Apple sends a string; its documentation shows the other two.
public enum EventsForm: String, Sendable, CaseIterable {
    /// A JSON string that holds one object.
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
