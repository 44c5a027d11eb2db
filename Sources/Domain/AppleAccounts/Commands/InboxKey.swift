import Encodings

/// Identifies an event across deliveries whose notifications have different identifiers.
public struct InboxKey: Sendable {
    public let clientID: ClientID
    public let subject: AppleSubject
    public let type: String
    public let moment: Moment

    public init(clientID: ClientID, subject: AppleSubject, type: String, moment: Moment) {
        self.clientID = clientID
        self.subject = subject
        self.type = type
        self.moment = moment
    }

    /// Returns `nil` for an event without a subject: only the identifier of the notification distinguishes
    /// two such events.
    init?(_ event: NotifiedEvent, of command: NotificationCommand) {
        guard let subject = event.subject else { return nil }
        self.init(clientID: command.clientID, subject: subject, type: event.type, moment: event.moment)
    }
}

extension InboxKey: Hashable {
    // Compared by bytes, as in the databases.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.moment == rhs.moment && lhs.clientID == rhs.clientID
            && lhs.subject == rhs.subject && lhs.type.isByteEqual(to: rhs.type)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(moment)
        hasher.combine(clientID)
        hasher.combine(subject)
    }
}
