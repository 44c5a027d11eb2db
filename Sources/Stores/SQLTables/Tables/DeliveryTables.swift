public import AppleAccounts

// Tables of the deliveries of events. No column leads to a user except through the feed.

/// The receivers of events with their position in the feed.
public struct EventReceiverTable: Table {
    public static let name = "event_receiver"

    public let name: Column<ReceiverName>
    public let cursor: Column<Int64>
    public let claims: Column<Int64>
    public let notBefore: Column<Moment>
    public let pausedAt: Column<Moment>
    public let verificationID: Column<EventID>
    public let verificationState: Column<String>
    public let verificationAskedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        name = columns("name", .operational, .required)
        cursor = columns("cursor", .operational, .required, .range(0...Int64.max))
        claims = columns("claims", .operational, .required, .range(0...Int64.max))
        notBefore = columns("not_before", .operational, .required)
        pausedAt = columns("paused_at", .operational, .optional)
        verificationID = columns("verification_id", .operational, .optional)
        verificationState = columns("verification_state", .operational, .optional)
        verificationAskedAt = columns("verification_asked_at", .operational, .optional)
    }
}

extension EventReceiverTable {
    @inlinable public func write(_ record: ReceiverRecord, to row: some WritableRow) {
        row.set(name, record.name)
        row.set(cursor, record.cursor)
        row.set(claims, record.claims)
        row.set(notBefore, record.notBefore)
        row.set(pausedAt, record.pausedAt)
        row.set(verificationID, record.verification?.id)
        row.set(verificationState, record.verification?.state)
        row.set(verificationAskedAt, record.verificationAskedAt)
    }

    @inlinable public func record(_ row: some ReadableRow) throws(StorageError) -> ReceiverRecord {
        ReceiverRecord(
            name: try row.required(name), cursor: try row.required(cursor), claims: try row.required(claims),
            notBefore: try row.required(notBefore), pausedAt: row[pausedAt],
            verification: row[verificationID].map {
                StreamVerification(id: $0, state: row[verificationState])
            }, verificationAskedAt: row[verificationAskedAt])
    }
}

/// Events that a receiver has not taken yet.
public struct EventRetryTable: Table {
    public static let name = "event_retry"

    public let receiver: Column<ReceiverName>
    public let sequence: Column<Int64>
    public let attempts: Column<Int64>
    public let dueAt: Column<Moment>
    public let waitingSince: Column<Moment>

    public init(_ columns: inout ColumnList) {
        receiver = columns("receiver", .operational, .required)
        sequence = columns("sequence", .operational, .required)
        attempts = columns("attempts", .operational, .required, .range(0...Int64.max))
        dueAt = columns("due_at", .operational, .required)
        waitingSince = columns("waiting_since", .operational, .required)
    }
}

extension EventRetryTable {
    /// SQL of the action for an existing row.
    public static let replacing = """
        ON CONFLICT (receiver, sequence) DO UPDATE SET attempts = excluded.attempts,
            due_at = excluded.due_at, waiting_since = excluded.waiting_since
        """

    @inlinable
    public func write(_ retry: DeliveryRetry, of name: ReceiverName, to row: some WritableRow) {
        row.set(receiver, name)
        row.set(sequence, retry.sequence)
        row.set(attempts, retry.attempts)
        row.set(dueAt, retry.dueAt)
        row.set(waitingSince, retry.waitingSince)
    }

    @inlinable public func retry(_ row: some ReadableRow) throws(StorageError) -> DeliveryRetry {
        DeliveryRetry(
            sequence: try row.required(sequence), attempts: try row.required(attempts),
            dueAt: try row.required(dueAt), waitingSince: try row.required(waitingSince))
    }
}
