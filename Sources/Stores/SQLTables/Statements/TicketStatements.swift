public import AppleAccounts

/// Statements for tickets, for both databases.
public enum TicketStatements {
    private static let insert = SQLInsertion<TicketTable>(
        "insert_ticket", conflict: "ON CONFLICT (purpose, digest) DO NOTHING")
    // One statement reads and deletes, so that only one caller gets the ticket, even across replicas.
    fileprivate static let take = SQLStatement<Void, Int64, TicketDigest, Moment>("take_ticket") {
        _, purpose, digest, now in
        """
        DELETE FROM ticket WHERE purpose = \(purpose) AND digest = \(digest) AND expires_at > \(now)
        RETURNING payload
        """
    }
    fileprivate static let find = SQLStatement<Void, Int64, TicketDigest, Moment>("find_ticket") {
        _, purpose, digest, now in
        "SELECT 1 FROM ticket WHERE purpose = \(purpose) AND digest = \(digest) AND expires_at > \(now)"
    }
    static let purge = TicketTable.purge(by: "purpose, digest", before: "expires_at")

    public static func insertion(_ ticket: Ticket) -> SQLCall { insert { $0.write(ticket, to: $1) } }
}

extension TicketStore where Self: SQLStore {
    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        try await run(TicketStatements.insertion(ticket)) > 0
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        let call = TicketStatements.take(purpose.storageCode, digest, moment)
        return try await once { try $0.value(call, as: [UInt8].self) }
    }

    public func hasTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> Bool {
        let call = TicketStatements.find(purpose.storageCode, digest, moment)
        return try await snapshot { try $0.value(call, as: Int64.self) != nil }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        try await purge(TicketStatements.purge, before: moment)
    }
}
