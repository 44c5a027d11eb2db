public import AppleAccounts

// Event delivery tables. Their columns identify users only through the feed.

/// The table of event receivers, with their positions in the feed.
public typealias EventReceiverTable = RecordTable<ReceiverRecord>

extension ReceiverRecord: StoredRecord {
    public static var table: String { "event_receiver" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let name = try column("name", .operational, \.name)
        let cursor = try column("cursor", .operational, \.cursor, .range(0...Int64.max))
        let claims = try column("claims", .operational, \.claims, .range(0...Int64.max))
        let notBefore = try column("not_before", .operational, \.notBefore)
        let pausedAt = try column("paused_at", .operational, \.pausedAt)
        let id = try column.part("verification_id", .operational) { $0.verification?.id }
        let state = try column.part("verification_state", .operational) { $0.verification?.state }
        return ReceiverRecord(
            name: name, cursor: cursor, claims: claims, notBefore: notBefore, pausedAt: pausedAt,
            verification: id.map { StreamVerification(id: $0, state: state) },
            verificationAskedAt: try column("verification_asked_at", .operational, \.verificationAskedAt))
    }
}

/// The table of events that a receiver has not accepted yet.
public typealias EventRetryTable = RecordTable<DeliveryRetry>

extension DeliveryRetry: StoredRecord {
    public static var table: String { "event_retry" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        column.other("receiver", .operational, ReceiverName.self)
        return DeliveryRetry(
            sequence: try column("sequence", .operational, \.sequence),
            attempts: try column("attempts", .operational, \.attempts, .range(0...Int64.max)),
            dueAt: try column("due_at", .operational, \.dueAt),
            waitingSince: try column("waiting_since", .operational, \.waitingSince))
    }
}

extension EventRetryTable {
    /// The SQL action for an existing row.
    public static let replacing = """
        ON CONFLICT (receiver, sequence) DO UPDATE SET attempts = excluded.attempts,
            due_at = excluded.due_at, waiting_since = excluded.waiting_since
        """
}
