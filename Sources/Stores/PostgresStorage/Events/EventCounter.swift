import AppleAccounts

/// The number of the last event of all replicas.
enum EventCounter {
    private static let read = PostgresCall(
        PostgresStatement("read_event_counter", "SELECT last_sequence FROM event_counter WHERE id = 1"))

    /// The counter is committed with the events that it numbers.
    static func lastSequence(in session: PostgresSession) throws -> Int64? {
        let rows = try session.run(read)
        _ = try rows.requireEventCounter()
        return rows.onlyValue(as: Int64.self)
    }
}

extension PostgresRows {
    /// The row of `event_counter`, of which there is always one.
    ///
    /// - Throws: `StorageError` `corrupted` when the table was emptied by hand.
    func requireEventCounter() throws(StorageError) -> PostgresRow {
        guard count == 1, let row = first else {
            throw StorageError(
                .corrupted, detail: "expected one row in event_counter, found \(count); restore a backup")
        }
        return row
    }
}
