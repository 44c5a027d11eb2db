public import AppleAccounts

/// The table of Apple's notifications as received, each stored once.
public struct NotificationTable: Table {
    public static let name = "notification"

    public let id: Column<Int64>
    public let identifier: Column<InboxIdentifier>
    public let appID: Column<Int64>
    public let receipt: Column<NotificationReceipt>
    public let payload: Column<String>
    public let receivedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        identifier = columns("identifier", .operational, .required)
        appID = columns("app_id", .operational, .required, .nameNumber)
        receipt = columns("receipt", .operational, .required)
        payload = columns("payload", .personal, .required, .length(1...65536))
        receivedAt = columns("received_at", .operational, .required)
    }
}

extension NotificationTable {
    /// Writes all columns except the row and app numbers.
    @inlinable public func write(_ kept: KeptNotification, to row: some WritableRow) {
        row.set(identifier, kept.command.identifier)
        row.set(receipt, kept.receipt)
        row.set(payload, kept.payload)
        row.set(receivedAt, kept.command.receivedAt)
    }

    /// Returns SQL that clears the columns about the user.
    ///
    /// - Parameter payload: SQL for the value that replaces the payload.
    public static func clearing(payload: String) -> String {
        let cleared = sensitiveNames(except: .only { [$0.payload] })
        return cleared.names.isEmpty ? "payload = \(payload)" : "payload = \(payload), \(cleared.cleared)"
    }
}

/// The table of event keys, which identify an event in notifications with different identifiers.
public struct NotificationEventTable: Table {
    public static let name = "notification_event"

    public let appID: Column<Int64>
    public let subject: Column<String>
    public let type: Column<String>
    public let eventTime: Column<Moment>
    public let notificationID: Column<Int64>

    public init(_ columns: inout ColumnList) {
        appID = columns("app_id", .operational, .required, .nameNumber)
        subject = columns("sub", .personal, .required, .length(1...255))
        type = columns("type", .personal, .required)
        eventTime = columns("event_time", .personal, .required)
        notificationID = columns("notification_id", .operational, .required)
    }
}

extension ColumnChoice where T == NotificationEventTable {
    public static var key: Self { except { [$0.notificationID] } }
}

extension NotificationEventTable {
    /// Writes all columns except the app and notification numbers.
    @inlinable public func write(_ key: InboxKey, to row: some WritableRow) {
        row.set(subject, key.subject.rawValue)
        row.set(type, key.type)
        row.set(eventTime, key.moment)
    }
}
