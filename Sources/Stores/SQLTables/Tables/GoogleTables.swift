public import AppleAccounts
public import AuthorizationServer

/// The table of Google's security events. An erasure keeps the `jti`, so that repeated events are recognized.
public struct GoogleEventTable: Table {
    public static let name = "google_event"

    public let jti: Column<String>
    public let googleSubject: Column<String>
    public let payload: Column<[UInt8]>
    /// The state of a verification event; NULL for other events. The operator's command creates it from
    /// random bytes.
    public let verificationState: Column<String>
    public let receivedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        jti = columns("jti", .operational, .required, .length(1...255))
        googleSubject = columns("google_subject", .personal, .optional, .length(1...255))
        payload = columns("payload", .personal, .required, .length(0...65536))
        verificationState = columns("verification_state", .operational, .optional, .length(0...255))
        receivedAt = columns("received_at", .operational, .required)
    }
}

extension GoogleEventTable {
    /// Returns SQL that clears the columns about the user.
    ///
    /// - Parameter payload: SQL for an empty payload.
    public static func clearing(payload: String) -> String {
        "payload = \(payload), \(sensitiveNames(except: .only { [$0.payload] }).cleared)"
    }

    @inlinable public func write(_ event: GoogleEventCommand, to row: some WritableRow) {
        row.set(jti, event.jti)
        row.set(googleSubject, event.googleSubject)
        row.set(payload, event.payload)
        row.set(verificationState, event.verificationState)
        row.set(receivedAt, event.receivedAt)
    }
}

/// The table of Google accounts, with the latest information from Google about each.
public typealias GoogleAccountTable = RecordTable<GoogleAccountRecord>

extension GoogleAccountRecord: StoredRecord {
    public static var table: String { "google_account" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        GoogleAccountRecord(
            subject: try column("google_subject", .personal, \.subject, .length(1...255)),
            isDisabled: try column("is_disabled", .personal, \.isDisabled),
            moment: try column("moment", .personal, \.moment))
    }
}

extension ColumnChoice where T == GoogleAccountTable {
    public static var values: Self { except { [$0.subject] } }
}
