public import AppleAccounts
public import AuthorizationServer
import SQLTables

// Keys that sign tokens.
extension PostgresAccountStore {
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await pool.run { try SigningKeyRows.all(in: $0) }
    }

    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        try await pool.run { session in
            try SigningKeyRows.offer(key, unlessMadeAfter: moment, in: session)
            return try SigningKeyRows.all(in: session)
        }
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await pool.run { try SigningKeyRows.replaceSealed(key, with: sealed, in: $0) }
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        try await pool.run { try SigningKeyRows.remove(key, by: origin, at: moment, in: $0) }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await pool.run { try SigningKeyRows.remove(retiredBefore: moment, in: $0) }
    }
}
