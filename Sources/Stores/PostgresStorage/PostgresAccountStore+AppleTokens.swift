public import AppleAccounts
import SQLTables

extension PostgresAccountStore: AppleTokenStore {
    public func claimCodes(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedCode] {
        try await pool.run {
            try AppleTokenClaims.codes(limit: limit, at: moment, leaseUntil: leaseUntil, in: $0)
        }
    }

    public func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        try await pool.run { _ = try $0.run(AppleTokenClaims.releaseCode(id, until: moment)) }
    }

    public func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        try await pool.run { session in
            try AppleTokenClaims.checks(
                limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds,
                except: resting, in: session)
        }
    }

    public func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        try await pool.run { try AppleTokenClaims.nextCheck(except: resting, in: $0) }
    }

    public func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        try await pool.run { _ = try $0.run(AppleTokenClaims.releaseCheck(check, until: moment)) }
    }

    public func nextDue() async throws -> AppleTokensDue {
        try await pool.run { try AppleTokenClaims.nextDue(in: $0) }
    }

    public func backlog(at moment: Moment) async throws -> AppleTokensBacklog {
        try await pool.run { try AppleTokenClaims.backlog(at: moment, in: $0) }
    }
}
