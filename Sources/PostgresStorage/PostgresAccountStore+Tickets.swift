public import AppleAccounts

extension PostgresAccountStore: TicketStore {
    private static let insert = PostgresStatement(
        "insert_ticket",
        """
        INSERT INTO ticket (purpose, digest, payload, expires_at)
        VALUES ($1::bigint, $2::bytea, $3::bytea, $4::bigint) ON CONFLICT (purpose, digest) DO NOTHING
        """)
    // One statement reads and deletes, so that of two callers, at whatever replicas, one finds it.
    private static let take = PostgresStatement(
        "take_ticket",
        """
        DELETE FROM ticket WHERE purpose = $1::bigint AND digest = $2::bytea AND expires_at > $3::bigint
        RETURNING payload
        """)
    private static let purge = PostgresStatement(
        "purge_tickets",
        """
        DELETE FROM ticket WHERE (purpose, digest) IN (
            SELECT purpose, digest FROM ticket WHERE expires_at < $1::bigint ORDER BY expires_at
            LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
        """)

    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        try await pool.run { session in
            try session.run(
                PostgresCall(
                    Self.insert,
                    [
                        .integer(ticket.purpose.storageCode), .bytes(ticket.digest.bytes),
                        .bytes(ticket.payload), .moment(ticket.expiresAt),
                    ])
            ).affected > 0
        }
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        try await pool.run { session in
            let rows = try session.run(
                PostgresCall(
                    Self.take, [.integer(purpose.storageCode), .bytes(digest.bytes), .moment(moment)]))
            return rows.count == 0 ? nil : rows.bytes(0, 0)
        }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        try await pool.run { session in
            try session.run(
                PostgresCall(Self.purge, [.moment(moment), .integer(Int64(Self.largestPurge))])
            ).affected
        }
    }
}
