import AppleAccounts
import SQLTables

/// Apple's notifications as they came, each once.
struct NotificationTable: Table {
    static let name = "notification"

    let id: Column<Int64>
    let identifier: Column<InboxIdentifier>
    let appID: Column<Int64>
    let receipt: Column<NotificationReceipt>
    let payload: Column<String>
    let receivedAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        identifier = columns("identifier", .operational)
        appID = columns("app_id", .operational)
        receipt = columns("receipt", .operational)
        payload = columns("payload", .personal)
        receivedAt = columns("received_at", .operational)
    }
}

/// What makes two deliveries of one event the same, when their identifiers differ.
struct NotificationEventTable: Table {
    static let name = "notification_event"

    let appID: Column<Int64>
    let subject: Column<String>
    let type: Column<String>
    let eventTime: Column<Moment>
    let notificationID: Column<Int64>

    init(_ columns: inout ColumnList) {
        appID = columns("app_id", .operational)
        subject = columns("sub", .personal)
        type = columns("type", .personal)
        eventTime = columns("event_time", .personal)
        notificationID = columns("notification_id", .operational)
    }
}

extension ColumnChoice where T == NotificationEventTable {
    static var key: Self { except { [$0.notificationID] } }
}

extension NotificationTable {
    /// SQL text that clears what Apple told about a person.
    ///
    /// - Parameter payload: SQL of what takes the place of the payload.
    static func clearing(payload: String) -> String {
        let cleared = sensitiveNames(except: .only { [$0.payload] })
        return cleared.names.isEmpty ? "payload = \(payload)" : "payload = \(payload), \(cleared.cleared)"
    }
}

extension NotificationEventTable {
    func set(_ keys: [InboxKey], apps: [Int64], in values: inout RowValues) {
        values.set(appID, apps)
        values.set(subject, keys.map(\.subject.rawValue))
        values.set(type, keys.map(\.type))
        values.set(eventTime, keys.map(\.moment))
    }
}
