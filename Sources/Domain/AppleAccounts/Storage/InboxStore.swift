/// Reads Apple's stored notifications, for operators.
public protocol InboxStore: Sendable {
    /// Returns the notifications before a number, newest first, for apps that the caller may see.
    ///
    /// Only a limited number of notifications is examined, so a page can be empty even if older notifications
    /// follow.
    ///
    /// - Parameter number: A notification's number; `nil` to start with the newest.
    func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage
}

extension InboxStore {
    /// Returns the arrival time of the newest notification; `nil` if none has arrived. An erasure clears rows
    /// without deleting any, so it does not change this time.
    public func lastNotification() async throws -> Moment? {
        try await notifications(before: nil, limit: 1, visibleTo: .all).notifications.first?.receivedAt
    }
}

/// A notification from Apple, as the service verified and stored it.
public struct ReceivedNotification: Sendable, Hashable {
    /// Number in commit order.
    public let number: Int64
    public let identifier: InboxIdentifier
    /// The app's primary client ID.
    public let clientID: ClientID
    public let receipt: NotificationReceipt
    /// Payload as received, or `KeptNotification.erasedPayload` if the notification is about an erased user.
    public let payload: String
    public let receivedAt: Moment

    public init(
        number: Int64, identifier: InboxIdentifier, clientID: ClientID, receipt: NotificationReceipt,
        payload: String, receivedAt: Moment
    ) {
        (self.number, self.identifier, self.clientID) = (number, identifier, clientID)
        (self.receipt, self.payload, self.receivedAt) = (receipt, payload, receivedAt)
    }
}

/// A page of inbox notifications.
public struct InboxPage: Sendable, Hashable {
    /// Maximum number of notifications examined for a page, even if the caller may see only a few of them.
    public static let longestScan = 500

    public let notifications: [ReceivedNotification]
    /// The next page contains the notifications before this number; `nil` on the last page.
    public let next: Int64?

    public init(notifications: [ReceivedNotification], next: Int64?) {
        (self.notifications, self.next) = (notifications, next)
    }

    /// Creates a page from rows, newest first.
    ///
    /// - Parameter scan: The number of requested rows.
    public init(_ rows: [ReceivedNotification], scan: Int, limit: Int, visibleTo scope: AppScope) {
        let visible = rows.filter { scope.allows($0.clientID) }
        if visible.count > limit {
            notifications = Array(visible.prefix(limit))
            next = notifications.last?.number
        } else {
            notifications = visible
            next = rows.count == scan ? rows.last?.number : nil
        }
    }
}

/// An event from a notification in the inbox, with the payload as received.
public struct KeptPayload: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// Apple's name for the type.
    public let type: String
    /// Apple's `event_time`.
    public let moment: Moment
    /// Arrival time, by the service's clock.
    public let receivedAt: Moment
    /// The signed payload of the whole notification.
    public let payload: String

    public init(clientID: ClientID, type: String, moment: Moment, receivedAt: Moment, payload: String) {
        self.clientID = clientID
        self.type = type
        self.moment = moment
        self.receivedAt = receivedAt
        self.payload = payload
    }
}
