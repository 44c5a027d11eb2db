public import AppleAccounts
import SQLTables

extension PostgresAccountStore: TicketStore {
    private static let insert = TableWrite<TicketTable>(
        inserting: "insert_ticket", "ON CONFLICT (purpose, digest) DO NOTHING")
    // One statement reads and deletes, so that of two callers, at any replicas, only one finds the ticket.
    private static let take = TypedStatement<Int64, TicketDigest, Moment>("take_ticket") {
        purpose, digest, now in
        """
        DELETE FROM ticket WHERE purpose = \(purpose) AND digest = \(digest) AND expires_at > \(now)
        RETURNING payload
        """
    }
    private static let find = TypedStatement<Int64, TicketDigest, Moment>("find_ticket") {
        purpose, digest, now in
        "SELECT 1 FROM ticket WHERE purpose = \(purpose) AND digest = \(digest) AND expires_at > \(now)"
    }
    private static let purge = TypedStatement<Moment, Int64>("purge_tickets") { end, limit in
        """
        DELETE FROM ticket WHERE (purpose, digest) IN (
            SELECT purpose, digest FROM ticket WHERE expires_at < \(end) ORDER BY expires_at
            LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        """
    }

    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        let call = Self.insert.statement.call([ticket]) { Self.insert.columns.write($0, to: $1) }
        let rehearsal: StoreHealth.Rehearsal = { _ = try $0.pipeline([.begin, call, .commit]) }
        return try await health.watch(.tickets, rehearsal: rehearsal) {
            try await pool.run { try $0.run(call).affected > 0 }
        }
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        try await pool.run { session in
            try session.run(Self.take(purpose.storageCode, digest, moment)).onlyValue(as: [UInt8].self)
        }
    }

    public func hasTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> Bool {
        try await pool.run { session in
            try session.run(Self.find(purpose.storageCode, digest, moment)).onlyValue(as: Int64.self) != nil
        }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        try await pool.run { try $0.run(Self.purge(moment, Int64(Self.largestPurge))).affected }
    }
}
