import AppleAccounts
import GRDB

/// The nonces that sign-ins have used up, by their digests, and those that earlier versions minted.
final class NonceRows {
    private let findUsedStatement: PreparedStatement
    private let insertUsedStatement: PreparedStatement
    private let findStoredStatement: PreparedStatement
    private let useStoredStatement: PreparedStatement

    init(in database: Database) throws {
        findUsedStatement = try PreparedStatement(
            "SELECT 1 FROM used_nonce WHERE digest = ?", in: database)
        insertUsedStatement = try PreparedStatement(
            "INSERT INTO used_nonce (digest, kept_until) VALUES (?1, ?2)", in: database)
        findStoredStatement = try PreparedStatement(
            "SELECT expires_at, is_used FROM nonce WHERE digest = ?", in: database)
        useStoredStatement = try PreparedStatement(
            "UPDATE nonce SET is_used = 1 WHERE digest = ?", in: database)
    }

    func load(_ digest: NonceDigest, into set: inout WorkingSet) throws {
        if try isUsed(digest) { set.load(usedNonce: digest) }
        if let stored = try findStored(digest) { set.load(stored) }
    }

    func save(_ set: WorkingSet) throws {
        for nonce in set.usedNonces {
            insertUsedStatement.begin()
            insertUsedStatement.bind(nonce.digest.bytes, at: 1)
            insertUsedStatement.bind(nonce.keptUntil, at: 2)
            try insertUsedStatement.execute()
        }
        for digest in set.usedStoredNonces {
            useStoredStatement.begin()
            useStoredStatement.bind(digest.bytes, at: 1)
            try useStoredStatement.execute()
        }
    }

    private func isUsed(_ digest: NonceDigest) throws -> Bool {
        findUsedStatement.begin()
        findUsedStatement.bind(digest.bytes, at: 1)
        defer { findUsedStatement.finish() }
        return try findUsedStatement.step()
    }

    private func findStored(_ digest: NonceDigest) throws -> NonceRecord? {
        findStoredStatement.begin()
        findStoredStatement.bind(digest.bytes, at: 1)
        defer { findStoredStatement.finish() }
        guard try findStoredStatement.step(), let expiresAt = findStoredStatement.moment(0) else {
            return nil
        }
        return NonceRecord(
            digest: digest, expiresAt: expiresAt, isUsed: findStoredStatement.integer(1) == 1)
    }
}
