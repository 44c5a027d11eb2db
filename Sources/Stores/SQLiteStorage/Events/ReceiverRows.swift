public import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore: DeliveryStore {
    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        try await reader.read { rows in
            try sequences.sorted().compactMap { sequence in
                let page = try rows.events.page(after: sequence - 1, limit: 1, visibleTo: .all)
                return page.events.first.flatMap { $0.sequence == sequence ? $0 : nil }
            }
        }
    }
}

extension SQLiteAccountStore {
    /// Ends all claims at the start: the lock on the file excludes another process, so their owner has ended.
    ///
    /// A past time stays: for a receiver that polls it is the time of its last poll.
    static func endClaims(_ database: Database, at moment: Moment) throws {
        try database.execute(
            sql: "UPDATE event_receiver SET not_before = :now WHERE not_before > :now",
            arguments: ["now": moment.milliseconds])
    }
}
