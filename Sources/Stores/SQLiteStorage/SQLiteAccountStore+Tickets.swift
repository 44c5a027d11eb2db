public import AppleAccounts
import SQLTables

extension SQLiteAccountStore: TicketStore {
    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        try await run(TicketStatements.insertion(ticket)) > 0
    }
}
