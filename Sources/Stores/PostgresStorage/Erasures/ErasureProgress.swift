import AppleAccounts
import SQLTables

/// Writes the progress of the Apple codes and tokens of erased accounts.
enum ErasureProgress {
    // Two replicas that finish the last two entries at once would each see the other's entry unfinished, and
    // neither would finish the erasure. So one waits here, and its later statements see the other's write.
    private static let lock = TypedStatement<ErasureID>("lock_erasure") {
        "SELECT id FROM erasure WHERE id = \($0) FOR UPDATE"
    }

    private struct Save {
        let id: Column<UniqueID>
        let erasureID: Column<ErasureID>
        let columns: ErasureTokenTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            id = rows.add("id", UniqueID.self)
            erasureID = rows.add("erasure_id", ErasureID.self)
            columns = rows.add(ErasureTokenTable.self, .progress)
            statement = RowStatement(
                "save_erasure_token", rows,
                """
                UPDATE erasure_token AS g SET \(ErasureTokenTable.names(.progress).assigned(from: "n"))
                FROM \(rows.relation("n"))
                WHERE g.id = n.id AND g.erasure_id = n.erasure_id AND g.step < 4
                """)
        }
    }

    private static let save = Save()
    private static let finish = TypedStatement<ErasureID, Moment>("finish_erasure") { id, moment in
        """
        UPDATE erasure SET finished_at = \(moment)
        WHERE id = \(id) AND finished_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM erasure_token WHERE erasure_id = \(id) AND step < 4)
        """
    }
    private static let adopt = TypedStatement<UniqueID, UniqueID, Int64, Int64, Moment, SealedSecret, Int64>(
        "adopt_token"
    ) { code, token, kind, revoke, moment, sealed, exchange in
        """
        UPDATE erasure_token SET id = \(token), kind = \(kind), step = \(revoke),
            next_attempt_at = \(moment), is_claimed = false, cause = NULL, sealed = \(sealed),
            redirect_uri = NULL, expires_at = NULL
        WHERE id = \(code) AND step = \(exchange)
        """
    }

    static func save(
        _ token: ErasureToken, of erasure: ErasureID, at moment: Moment, in session: PostgresSession
    ) throws {
        var saved = token
        saved.isClaimed = false
        if token.isDone { saved.sealed = nil }
        let saving = save.statement.call([saved]) { token, row in
            save.columns.write(token, of: erasure, to: row)
            row.set(save.id, token.id)
            row.set(save.erasureID, erasure)
        }
        guard token.isDone else {
            _ = try session.run(saving)
            return
        }
        _ = try session.pipeline([.begin, lock(erasure), saving, finish(erasure, moment), .commit])
    }

    static func adopt(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment,
        in session: PostgresSession
    ) throws -> Bool {
        let call = adopt(
            codeID, tokenID, SealedPurpose.refreshToken.storageCode,
            ErasureToken.Step.revoke.storageCodes.step, moment, sealed,
            ErasureToken.Step.exchange.storageCodes.step)
        return try session.run(call).affected > 0
    }
}
