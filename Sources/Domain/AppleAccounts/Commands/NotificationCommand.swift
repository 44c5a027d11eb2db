/// A verified server-to-server notification of Apple.
///
/// A notification is applied once: a repetition with the same identifier changes nothing. From a notification
/// with another identifier, only events are applied that have not been seen under the same client ID,
/// subject, type and time.
public struct NotificationCommand: Sendable, Hashable {
    public let identifier: InboxIdentifier
    public let team: TeamID
    /// The app's primary client ID.
    public let clientID: ClientID
    public let events: [NotifiedEvent]
    /// The most characters that a payload may have. Tokens are far shorter.
    public static let longestPayload = 65536

    /// The signed payload as received.
    public let payload: String
    /// By our clock.
    public let receivedAt: Moment

    public init(
        identifier: InboxIdentifier, team: TeamID, clientID: ClientID, events: [NotifiedEvent],
        payload: String,
        receivedAt: Moment
    ) {
        self.identifier = identifier
        self.team = team
        self.clientID = clientID
        self.events = events
        self.payload = payload
        self.receivedAt = receivedAt
    }
}

/// The result of a notification. Apple gets the same HTTP response for each.
public enum NotificationReceipt: String, Sendable, Hashable, CaseIterable {
    /// At least one event was new and of a known type, and the state of its user changed.
    case applied
    /// As `applied`, but later facts decide or the user was so before: no state changed.
    case unchanged
    /// Nothing in it was new.
    case duplicate
    /// The notification was kept, but this version knows none of its new events.
    case unknownType = "unknown_type"

    /// The word of the interface, which has one word for `applied` and `unchanged`.
    public var word: String {
        switch self {
        case .applied, .unchanged: "applied"
        case .duplicate: "duplicate"
        case .unknownType: "unknown_type"
        }
    }
}
