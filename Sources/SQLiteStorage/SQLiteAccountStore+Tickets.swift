public import AppleAccounts
import Foundation
import GRDB

extension SQLiteAccountStore: TicketStore {
    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        try await writer.run { database in
            try database.execute(
                sql: """
                    INSERT INTO ticket (purpose, digest, payload, expires_at) VALUES (?, ?, ?, ?)
                    ON CONFLICT (purpose, digest) DO NOTHING
                    """,
                arguments: [
                    ticket.purpose.storageCode, Data(ticket.digest.bytes), Data(ticket.payload),
                    ticket.expiresAt.milliseconds,
                ])
            return database.changesCount > 0
        }
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        try await writer.run { database in
            // One statement reads and deletes, so that of two callers one finds it.
            try Data.fetchOne(
                database,
                sql: """
                    DELETE FROM ticket WHERE purpose = ? AND digest = ? AND expires_at > ?
                    RETURNING payload
                    """,
                arguments: [purpose.storageCode, Data(digest.bytes), moment.milliseconds]
            ).map { Array($0) }
        }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM ticket WHERE (purpose, digest) IN (
                        SELECT purpose, digest FROM ticket WHERE expires_at < ? ORDER BY expires_at LIMIT ?)
                    """,
                arguments: [moment.milliseconds, Self.largestPurge])
            return database.changesCount
        }
    }
}
