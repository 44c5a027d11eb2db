public import AppleAccounts
import Foundation
import GRDB
import SQLTables

extension SQLiteAccountStore: TicketStore {
    private static let insertion = Insertion<TicketTable>(
        conflict: "ON CONFLICT (purpose, digest) DO NOTHING")

    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        try await writer.run { database in
            try Self.insertion.run(in: database) { $0.write(ticket, to: $1) }
            return database.changesCount > 0
        }
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        try await writer.run { database in
            // One statement reads and deletes, so that of two callers only one finds the ticket.
            try Data.fetchOne(
                database,
                sql: """
                    DELETE FROM ticket WHERE purpose = :purpose AND digest = :digest AND expires_at > :now
                    RETURNING payload
                    """,
                arguments: [
                    "purpose": purpose.storageCode, "digest": Data(digest.digest), "now": moment.milliseconds,
                ]
            ).map { Array($0) }
        }
    }

    public func hasTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> Bool {
        try await reader.read { try $0.hasTicket(digest, purpose, at: moment) }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM ticket WHERE (purpose, digest) IN (
                        SELECT purpose, digest FROM ticket WHERE expires_at < :end ORDER BY expires_at LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}
