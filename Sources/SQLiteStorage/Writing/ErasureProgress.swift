import AppleAccounts
import Foundation
import GRDB

/// Writes how far the grants of erased accounts have come.
struct ErasureProgress {
    let database: Database

    func save(_ grant: ErasureGrant, of id: ErasureID, at moment: Moment) throws {
        let (step, outcome) = grant.step.storageCodes
        try database.execute(
            sql: """
                UPDATE erasure_grant SET kind = ?, step = ?, outcome = ?, attempts = ?, next_attempt_at = ?,
                    is_claimed = 0, cause = ?, sealed = ?
                WHERE id = ? AND erasure_id = ? AND step < 4
                """,
            arguments: [
                grant.kind.storageCode, step, outcome, grant.attempts, grant.nextAttemptAt.milliseconds,
                grant.cause, grant.isDone ? nil : grant.sealed.map { Data($0.bytes) }, grant.id.data,
                id.uniqueID.data,
            ])
        guard grant.isDone, database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                UPDATE erasure SET finished_at = ?1 WHERE id = ?2 AND finished_at IS NULL AND NOT EXISTS (
                    SELECT 1 FROM erasure_grant WHERE erasure_id = ?2 AND step < 4)
                """,
            arguments: [moment.milliseconds, id.uniqueID.data])
    }

    func adopt(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) throws -> Bool {
        let revoke = ErasureGrant.Step.revoke.storageCodes.step
        let exchange = ErasureGrant.Step.exchange.storageCodes.step
        try database.execute(
            sql: """
                UPDATE erasure_grant SET id = ?, kind = ?, step = ?, next_attempt_at = ?, is_claimed = 0,
                    cause = NULL, sealed = ?, redirect_uri = NULL, expires_at = NULL
                WHERE id = ? AND step = ?
                """,
            arguments: [
                tokenID.data, SealedPurpose.refreshToken.storageCode, revoke, moment.milliseconds,
                Data(sealed.bytes), codeID.data, exchange,
            ])
        return database.changesCount > 0
    }
}
