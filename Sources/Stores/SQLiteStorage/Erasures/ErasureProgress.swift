import AppleAccounts
import Foundation
import GRDB
import SQLTables

/// Writes the progress of the Apple codes and tokens of erased accounts.
struct ErasureProgress {
    /// The UPDATE of one entry, with its parameters.
    private struct Save {
        let sql: String
        let columns: ErasureTokenTable
        let id: Parameter<UniqueID>
        let erasure: Parameter<ErasureID>

        init() {
            var parameters = ParameterList()
            let progress = parameters.add(columnsOf: ErasureTokenTable.self, .progress)
            columns = progress.columns
            id = parameters.add(UniqueID.self)
            erasure = parameters.add(ErasureID.self)
            sql = """
                UPDATE erasure_token SET \(progress.assignments)
                WHERE id = \(id) AND erasure_id = \(erasure) AND step < 4
                """
        }
    }

    private static let save = Save()

    let database: Database

    func save(_ token: ErasureToken, of erasure: ErasureID, at moment: Moment) throws {
        var saved = token
        saved.isClaimed = false
        if token.isDone { saved.sealed = nil }
        let statement = try PreparedStatement(Self.save.sql, in: database)
        statement.begin()
        Self.save.columns.write(saved, of: erasure, to: statement)
        statement.bind(token.id, to: Self.save.id)
        statement.bind(erasure, to: Self.save.erasure)
        try statement.execute()
        guard token.isDone, database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                UPDATE erasure SET finished_at = :time WHERE id = :id AND finished_at IS NULL AND NOT EXISTS (
                    SELECT 1 FROM erasure_token WHERE erasure_id = :id AND step < 4)
                """,
            arguments: ["time": moment.milliseconds, "id": erasure.uniqueID.data])
    }

    func adopt(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) throws -> Bool {
        try database.execute(
            sql: """
                UPDATE erasure_token SET id = :token, kind = :kind, step = :revoke, next_attempt_at = :time,
                    is_claimed = 0, cause = NULL, sealed = :sealed, redirect_uri = NULL, expires_at = NULL
                WHERE id = :code AND step = :exchange
                """,
            arguments: [
                "token": tokenID.data, "kind": SealedPurpose.refreshToken.storageCode,
                "revoke": ErasureToken.Step.revoke.storageCodes.step, "time": moment.milliseconds,
                "sealed": Data(sealed.bytes), "code": codeID.data,
                "exchange": ErasureToken.Step.exchange.storageCodes.step,
            ])
        return database.changesCount > 0
    }
}
