public import StrictJSON

/// A server-to-server notification to be built. The empty recipe tells that the default user stopped using
/// the app.
public struct NotificationRecipe: Sendable {
    /// One of `NotificationType`, or any other string. When absent: what fits the account change, else
    /// `consent-revoked`.
    public var type: String?
    /// The `sub` of a user in any team; the default user when absent.
    public var subject: String?
    /// The `aud`; the primary client ID of the first app when absent.
    public var clientID: String?
    /// `event_time` exactly as it is to be sent; the time of `iat` in `eventTimeUnit` when absent.
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
