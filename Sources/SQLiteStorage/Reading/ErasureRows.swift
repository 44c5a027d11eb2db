import AppleAccounts
import GRDB

/// Reads erasures with their apps and grants.
final class ErasureRows {
    static let grantColumns = """
        g.id, g.client_id, g.app_id, g.kind, g.step, g.outcome, g.attempts, g.next_attempt_at, g.is_claimed,
        g.cause, g.sealed, g.redirect_uri, g.expires_at
        """

    private let names: Names
    private let byID: PreparedStatement
    private let byAccount: PreparedStatement
    private let findApps: PreparedStatement
    private let findGrants: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        let columns = "SELECT id, account_id, team_id, requested_at, deadline, finished_at FROM erasure"
        byID = try PreparedStatement(columns + " WHERE id = ?", in: database)
        byAccount = try PreparedStatement(columns + " WHERE account_id = ?", in: database)
        findApps = try PreparedStatement(
            """
            SELECT app_id, had_token, state, reason, refresh_token_cause FROM erasure_app
            WHERE erasure_id = ?
            """, in: database)
        findGrants = try PreparedStatement(
            "SELECT \(Self.grantColumns) FROM erasure_grant g WHERE g.erasure_id = ? ORDER BY g.id",
            in: database)
    }

    func find(_ id: ErasureID) throws -> ErasureRecord? {
        try find(id.uniqueID, by: byID)
    }

    func find(of id: AccountID) throws -> ErasureRecord? {
        try find(id.uniqueID, by: byAccount)
    }

    private func find(_ id: UniqueID, by statement: PreparedStatement) throws -> ErasureRecord? {
        statement.begin()
        statement.bind(id, at: 1)
        defer { statement.finish() }
        guard try statement.step() else { return nil }
        guard let id = statement.uniqueID(0), let account = statement.uniqueID(1),
            let team = statement.integer(2), let requestedAt = statement.moment(3),
            let deadline = statement.moment(4)
        else { throw StorageError(.corrupted, detail: "an erasure lacks something") }
        return ErasureRecord(
            id: ErasureID(id), accountID: AccountID(account), team: try names.teams.name(of: team),
            requestedAt: requestedAt, deadline: deadline, finishedAt: statement.moment(5),
            apps: try apps(of: id), grants: try grants(of: id))
    }

    private func apps(of erasure: UniqueID) throws -> [ErasedApp] {
        findApps.begin()
        findApps.bind(erasure, at: 1)
        defer { findApps.finish() }
        var apps: [ErasedApp] = []
        while try findApps.step() {
            apps.append(
                ErasedApp(
                    clientID: try names.apps.name(of: findApps.integer(0) ?? 0),
                    hadToken: findApps.integer(1) == 1,
                    stateBefore: try CredentialState(storageCode: findApps.integer(2) ?? 0),
                    reasonBefore: try findApps.integer(3).map { try CredentialReason(storageCode: $0) },
                    refreshTokenCause: try findApps.integer(4).map {
                        try RefreshTokenCause(storageCode: $0)
                    }))
        }
        return apps.sorted { $0.clientID < $1.clientID }
    }

    private func grants(of erasure: UniqueID) throws -> [ErasureGrant] {
        findGrants.begin()
        findGrants.bind(erasure, at: 1)
        defer { findGrants.finish() }
        var grants: [ErasureGrant] = []
        while try findGrants.step() { grants.append(try grant(findGrants)) }
        return grants
    }

    /// Reads `grantColumns` of the row that a statement is at.
    func grant(_ row: PreparedStatement) throws -> ErasureGrant {
        guard let id = row.uniqueID(0), let client = row.integer(1), let app = row.integer(2),
            let attempts = row.integer(6), let nextAttemptAt = row.moment(7)
        else { throw StorageError(.corrupted, detail: "a grant lacks something") }
        return ErasureGrant(
            id: id, clientID: try names.clients.name(of: client),
            primaryClientID: try names.apps.name(of: app),
            kind: try SealedPurpose(storageCode: row.integer(3) ?? 0),
            step: try ErasureGrant.Step(storageCode: row.integer(4), outcome: row.integer(5)),
            attempts: attempts, nextAttemptAt: nextAttemptAt,
            isClaimed: row.integer(8) == 1, cause: row.text(9),
            sealed: row.bytes(10).flatMap { SealedSecret($0) }, redirectURI: row.text(11),
            expiresAt: row.moment(12))
    }
}
