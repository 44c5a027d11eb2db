public import StrictJSON

/// The content of a server-to-server notification to mint. The default says that the default user has stopped
/// using the app.
public struct NotificationRecipe: Sendable {
    /// One of `NotificationType`, or any other string. Default: the type of the account change, else
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
