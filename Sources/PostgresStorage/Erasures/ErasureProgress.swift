import AppleAccounts

/// Writes how far the grants of erased accounts have come.
enum ErasureProgress {
    // Two replicas that end the last two grants at once would each see the other's unfinished, and neither
    // would finish the erasure. So one waits here, and sees in its later statements what the other did.
    private static let lock = PostgresStatement(
        "lock_erasure", "SELECT id FROM erasure WHERE id = $1::uuid FOR UPDATE")
    private static let save = PostgresStatement(
        "save_grant",
        """
        UPDATE erasure_grant SET kind = $3::bigint, step = $4::bigint, outcome = $5::bigint,
            attempts = $6::bigint, next_attempt_at = $7::bigint, is_claimed = false, cause = $8::text,
            sealed = $9::bytea
        WHERE id = $2::uuid AND erasure_id = $1::uuid AND step < 4
        """)
    private static let finish = PostgresStatement(
        "finish_erasure",
        """
        UPDATE erasure SET finished_at = $2::bigint
        WHERE id = $1::uuid AND finished_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM erasure_grant WHERE erasure_id = $1::uuid AND step < 4)
        """)
    private static let adopt = PostgresStatement(
        "adopt_token",
        """
        UPDATE erasure_grant SET id = $2::uuid, kind = $3::bigint, step = $4::bigint,
            next_attempt_at = $5::bigint, is_claimed = false, cause = NULL, sealed = $6::bytea,
            redirect_uri = NULL, expires_at = NULL
        WHERE id = $1::uuid AND step = $7::bigint
        """)

    static func save(
        _ grant: ErasureGrant, of id: ErasureID, at moment: Moment, in session: PostgresSession
    ) throws {
        let (step, outcome) = grant.step.storageCodes
        let saving = PostgresCall(
            save,
            [
                .uuid(id.uniqueID), .uuid(grant.id), .integer(grant.kind.storageCode), .integer(step),
                .integer(outcome), .integer(grant.attempts), .moment(grant.nextAttemptAt), .text(grant.cause),
                .bytes(grant.isDone ? nil : grant.sealed?.bytes),
            ])
        guard grant.isDone else {
            _ = try session.run(saving)
            return
        }
        _ = try session.pipeline([
            .begin, PostgresCall(lock, [.uuid(id.uniqueID)]), saving,
            PostgresCall(finish, [.uuid(id.uniqueID), .moment(moment)]), .commit,
        ])
    }

    static func adopt(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment,
        in session: PostgresSession
    ) throws -> Bool {
        try session.run(
            PostgresCall(
                adopt,
                [
                    .uuid(codeID), .uuid(tokenID), .integer(SealedPurpose.refreshToken.storageCode),
                    .integer(ErasureGrant.Step.revoke.storageCodes.step), .moment(moment),
                    .bytes(sealed.bytes), .integer(ErasureGrant.Step.exchange.storageCodes.step),
                ])
        ).affected > 0
    }
}
