import AppleAccounts
import GRDB

/// The nonces that this service minted, by their digests.
final class NonceRows {
    private let findStatement: PreparedStatement
    private let insertStatement: PreparedStatement
    private let useStatement: PreparedStatement

    init(in database: Database) throws {
        findStatement = try PreparedStatement(
            "SELECT expires_at, is_used FROM nonce WHERE digest = ?", in: database)
        insertStatement = try PreparedStatement(
            "INSERT INTO nonce (digest, expires_at, is_used) VALUES (?1, ?2, ?3)", in: database)
        useStatement = try PreparedStatement("UPDATE nonce SET is_used = 1 WHERE digest = ?", in: database)
    }

    func find(_ digest: NonceDigest) throws -> NonceRecord? {
        findStatement.begin()
        findStatement.bind(digest.bytes, at: 1)
        defer { findStatement.finish() }
        guard try findStatement.step(), let expiresAt = findStatement.moment(0) else { return nil }
        return NonceRecord(digest: digest, expiresAt: expiresAt, isUsed: findStatement.integer(1) == 1)
    }

    func insert(_ nonce: NonceRecord) throws {
        insertStatement.begin()
        insertStatement.bind(nonce.digest.bytes, at: 1)
        insertStatement.bind(nonce.expiresAt, at: 2)
        insertStatement.bind(nonce.isUsed ? 1 : 0, at: 3)
        try insertStatement.execute()
    }

    func markUsed(_ digest: NonceDigest) throws {
        useStatement.begin()
        useStatement.bind(digest.bytes, at: 1)
        try useStatement.execute()
    }
}
