import AppleAccounts
import GRDB

/// Hands out codes, checks and the grants of erased accounts. Each claim runs in a transaction of its own on
/// the one connection that writes, so two claimers cannot get the same.
final class GrantClaims {
    private let rows: GrantRows
    private let erasureRows: ErasureRows
    private let names: Names
    private let dueCodes: PreparedStatement
    private let claimCode: PreparedStatement
    private let dueChecks: PreparedStatement
    private let moveCheck: PreparedStatement
    private let dueGrants: PreparedStatement
    private let claimGrant: PreparedStatement

    init(_ names: Names, _ rows: GrantRows, in database: Database) throws {
        self.names = names
        self.rows = rows
        erasureRows = try ErasureRows(names, in: database)
        dueCodes = try PreparedStatement(
            """
            SELECT \(GrantRows.codeColumns), s.team_id, s.sub
            FROM authorization_code c JOIN subject s ON s.account_id = c.account_id
            WHERE c.next_attempt_at <= ?1 ORDER BY c.next_attempt_at, c.id LIMIT ?2
            """, in: database)
        claimCode = try PreparedStatement(
            """
            UPDATE authorization_code SET attempts = attempts + 1, next_attempt_at = ?2, is_claimed = 1
            WHERE id = ?1
            """, in: database)
        dueChecks = try PreparedStatement(
            """
            SELECT \(GrantRows.tokenColumns), s.team_id, s.sub
            FROM refresh_token t JOIN subject s ON s.account_id = t.account_id
            WHERE t.next_check_at <= ?1 ORDER BY t.next_check_at, t.account_id LIMIT ?2
            """, in: database)
        moveCheck = try PreparedStatement(
            "UPDATE refresh_token SET next_check_at = ?3 WHERE account_id = ?1 AND client_id = ?2",
            in: database)
        dueGrants = try PreparedStatement(
            """
            SELECT \(ErasureRows.grantColumns), e.id, e.account_id, e.team_id, e.deadline
            FROM erasure_grant g JOIN erasure e ON e.id = g.erasure_id
            WHERE g.step < 4 AND g.next_attempt_at <= ?1 AND (?3 IS NULL OR g.erasure_id = ?3)
            ORDER BY g.next_attempt_at, g.id LIMIT ?2
            """, in: database)
        claimGrant = try PreparedStatement(
            """
            UPDATE erasure_grant SET attempts = attempts + 1, next_attempt_at = ?2, is_claimed = 1
            WHERE id = ?1
            """, in: database)
    }

    /// Makes due what an earlier process had begun. Only with the lock on the file: its claims are then all of processes
    /// that are gone, a code has only minutes, and whoever restarts the service while an erasure is waiting may have put
    /// right what it waits for.
    static func endClaims(_ database: Database) throws {
        try database.execute(sql: "UPDATE authorization_code SET next_attempt_at = 0 WHERE is_claimed = 1")
        try database.execute(sql: "UPDATE erasure_grant SET next_attempt_at = 0 WHERE step < 4")
    }

    func codes(limit: Int, at moment: Moment, leaseUntil: Moment) throws -> [ClaimedCode] {
        var due: [(AuthorizationCodeRecord, SubjectKey)] = []
        try each(dueCodes, limit: limit, at: moment) {
            due.append((try rows.code(dueCodes), try key(dueCodes, at: 11)))
        }
        return try due.map { code, key in
            var claimed = code
            claimed.attempts += 1
            claimed.nextAttemptAt = leaseUntil
            claimed.isClaimed = true
            try move(claimCode, code.id, to: leaseUntil)
            return ClaimedCode(record: claimed, key: key, isInterrupted: code.isClaimed)
        }
    }

    func checks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64
    ) throws -> [ClaimedCheck] {
        var due: [ClaimedCheck] = []
        try each(dueChecks, limit: limit, at: moment) {
            due.append(ClaimedCheck(try rows.token(dueChecks), key: try key(dueChecks, at: 7)))
        }
        for check in due {
            // Without it, whoever signed in at the same time would be asked about at the same time for ever.
            let jitter = Int64.random(in: 0..<max(jitterMilliseconds, 1))
            try moveCheck(of: check, to: nextAfter.advanced(byMilliseconds: jitter))
        }
        return due
    }

    func erasureGrants(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) throws -> [ClaimedErasureGrant] {
        var due: [ClaimedErasureGrant] = []
        try each(dueGrants, limit: limit, at: moment, of: id) {
            var grant = try erasureRows.grant(dueGrants)
            let isInterrupted = grant.isClaimed
            grant.attempts += 1
            grant.nextAttemptAt = leaseUntil
            grant.isClaimed = true
            guard let erasure = dueGrants.uniqueID(13), let account = dueGrants.uniqueID(14),
                let team = dueGrants.integer(15), let deadline = dueGrants.moment(16)
            else { throw StorageError(.corrupted, detail: "an erasure lacks something") }
            due.append(
                ClaimedErasureGrant(
                    erasureID: ErasureID(erasure), accountID: AccountID(account),
                    team: try names.teams.name(of: team), deadline: deadline, grant: grant,
                    isInterrupted: isInterrupted))
        }
        for claimed in due { try move(claimGrant, claimed.grant.id, to: leaseUntil) }
        return due
    }

    func moveCheck(of check: ClaimedCheck, to moment: Moment) throws {
        guard let client = try names.clients.number(of: check.clientID) else { return }
        moveCheck.begin()
        moveCheck.bind(check.accountID.uniqueID, at: 1)
        moveCheck.bind(client, at: 2)
        moveCheck.bind(moment, at: 3)
        try moveCheck.execute()
    }

    private func each(
        _ statement: PreparedStatement, limit: Int, at moment: Moment, of id: ErasureID? = nil,
        _ body: () throws -> Void
    ) throws {
        statement.begin()
        statement.bind(moment, at: 1)
        statement.bind(Int64(max(limit, 0)), at: 2)
        statement.bind(id?.uniqueID, at: 3)
        defer { statement.finish() }
        while try statement.step() { try body() }
    }

    private func move(_ statement: PreparedStatement, _ id: UniqueID, to moment: Moment) throws {
        statement.begin()
        statement.bind(id, at: 1)
        statement.bind(moment, at: 2)
        try statement.execute()
    }

    /// Reads the team's number and the `sub` from two columns.
    private func key(_ row: PreparedStatement, at column: Int32) throws -> SubjectKey {
        guard let team = row.integer(column), let subject = row.text(column + 1).flatMap({ AppleSubject($0) })
        else { throw StorageError(.corrupted, detail: "a grant without person") }
        return SubjectKey(team: try names.teams.name(of: team), subject: subject)
    }
}
