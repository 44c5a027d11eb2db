public import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore: AppleTokenStore {
    public func claimCodes(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedCode] {
        try await writer.write { try $0.claims().codes(limit: limit, at: moment, leaseUntil: leaseUntil) }
    }

    public func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        try await writer.run { database in
            try database.execute(
                sql: "UPDATE authorization_code SET next_attempt_at = :time, is_claimed = 0 WHERE id = :id",
                arguments: ["time": moment.milliseconds, "id": id.data])
        }
    }

    public func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        try await writer.write { writer in
            try writer.claims().checks(
                limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds,
                except: resting)
        }
    }

    public func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        try await reader.read { try $0.tokens().due.nextCheck(except: resting) }
    }

    public func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        try await writer.run { database in
            try database.execute(
                sql: """
                    UPDATE refresh_token
                    SET next_check_at = coalesce(:time, next_check_at), unchecked_since = :since
                    WHERE account_id = :account AND token_id = :token
                    """,
                arguments: [
                    "time": moment?.milliseconds, "since": check.dueSince.milliseconds,
                    "account": check.accountID.uniqueID.data, "token": check.tokenID.data,
                ])
        }
    }

    public func nextDue() async throws -> AppleTokensDue {
        try await reader.read { try $0.tokens().due.find() }
    }

    public func backlog(at moment: Moment) async throws -> AppleTokensBacklog {
        try await reader.read { try $0.tokens().backlog.count(at: moment) }
    }
}

/// Statements of the reading connection for workers and tools, prepared at the first use. Stays on its queue.
final class AppleTokenReader {
    let due: AppleTokenClaims.NextDue
    let backlog: AppleTokenClaims.CountDue
    private let database: Database

    init(_ names: Names, in database: Database) throws {
        self.database = database
        due = try AppleTokenClaims.NextDue(in: database)
        backlog = try AppleTokenClaims.CountDue(in: database)
    }
}
