public import AppleAccounts
import SQLTables

extension PostgresAccountStore: TicketStore {
    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        let call = PostgresCall(TicketStatements.insertion(ticket))
        let rehearsal: StoreHealth.Rehearsal = { _ = try $0.pipeline([.begin, call, .commit]) }
        return try await health.watch(.tickets, rehearsal: rehearsal) {
            try await pool.run { try $0.run(call).affected > 0 }
        }
    }
}
