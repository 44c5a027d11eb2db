import AppleAccounts

/// The account events of a transaction, which are appended at its end.
///
/// Their numbers come from one row, which stays locked until the commit: whoever comes next gets the next
/// numbers when these events can be seen, and the same numbers when they never will be. So nobody may wait for
/// anything behind it.
struct EventAppending {
    /// Listeners on this channel hear the number of the last event.
    static let channel = "siwa_events"

    private static let append = PostgresStatement(
        "append_events",
        """
        WITH counter AS (
            UPDATE event_counter SET last_sequence = last_sequence + $1::bigint WHERE id = 1
            RETURNING last_sequence),
        added AS (
            INSERT INTO event (
                sequence, id, kind, subject_id, account_id, app_id, reason, source, moment, recorded_at)
            -- Without the counter there is no number, which the table refuses, and nothing is committed.
            SELECT (SELECT last_sequence FROM counter) - $1::bigint + e.place, e.id, e.kind, e.subject_id, e.account_id,
                e.app_id, e.reason, e.source, e.moment, e.recorded_at
            FROM unnest(
                $2::uuid[], $3::bigint[], $4::bigint[], $5::uuid[], $6::bigint[], $7::bigint[], $8::bigint[],
                $9::bigint[], $10::bigint[])
            WITH ORDINALITY AS e (
                id, kind, subject_id, account_id, app_id, reason, source, moment, recorded_at, place))
        SELECT last_sequence, pg_notify('\(channel)', last_sequence::text) FROM counter
        """)

    private var events: [(event: AccountEvent, rowID: Int64)] = []

    var isEmpty: Bool { events.isEmpty }

    mutating func add(_ event: AccountEvent, rowID: Int64) {
        events.append((event, rowID))
    }

    /// Hangs the events of the time when there was no account on another row, as those stored before are.
    mutating func moveEventsWithoutAccount(from rowID: Int64, to newRowID: Int64) {
        for index in events.indices where events[index].rowID == rowID && events[index].event.accountID == nil
        {
            events[index].rowID = newRowID
        }
    }

    /// Answers with one row, which has the number of the last event.
    func call(_ names: PostgresNames) throws -> PostgresCall {
        let apps = try events.map { item in
            try item.event.clientID.map { try names.apps.ensuredNumber(of: $0) }
        }
        return PostgresCall(
            Self.append,
            [
                .integer(Int64(events.count)),
                .uuids(events.map(\.event.id.uniqueID)), .integers(events.map(\.event.kind.storageCode)),
                .integers(events.map(\.rowID)), .uuids(events.map { $0.event.accountID?.uniqueID }),
                .integers(apps), .integers(events.map { $0.event.reason?.storageCode }),
                .integers(events.map { $0.event.source?.storageCode }),
                .integers(events.map(\.event.moment.milliseconds)),
                .integers(events.map(\.event.recordedAt.milliseconds)),
            ])
    }
}
