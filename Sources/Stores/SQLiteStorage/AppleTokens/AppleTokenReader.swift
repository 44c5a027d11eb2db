import AppleAccounts
import GRDB

/// Statements of the reading connection for workers and tools, prepared at the first use. Stays on its queue.
final class AppleTokenReader {
    let erasures: ErasureRows
    let sealed: SealedRows
    let transfers: TransferRows
    let disabled: DisabledAccountRows
    let due: AppleTokenClaims.NextDue
    let backlog: AppleTokenClaims.CountDue
    private let database: Database

    init(_ names: Names, in database: Database) throws {
        self.database = database
        erasures = try ErasureRows(names, in: database)
        sealed = try SealedRows(names, in: database)
        transfers = try TransferRows(names, in: database)
        disabled = try DisabledAccountRows(names, in: database)
        due = try AppleTokenClaims.NextDue(in: database)
        backlog = try AppleTokenClaims.CountDue(in: database)
    }

    func sealedCount() throws -> Int {
        try Int.fetchOne(
            database,
            sql: """
                SELECT (SELECT count(*) FROM authorization_code) + (SELECT count(*) FROM refresh_token)
                    + (SELECT count(*) FROM erasure_token WHERE sealed IS NOT NULL)
                """) ?? 0
    }
}
