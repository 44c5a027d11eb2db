import AppleAccounts
import GRDB
import SQLTables

/// The nonces that sign-ins have used up, by their digests, and those that earlier versions minted.
final class NonceRows {
    /// Parameter of all four statements.
    private let digest: Parameter<NonceDigest>
    private let findUsed: PreparedStatement
    private let insertUsed: PreparedStatement
    private let usedColumns: UsedNonceTable
    private let findStored: PreparedStatement
    private let storedColumns: NonceTable
    private let useStored: PreparedStatement

    init(in database: Database) throws {
        var parameters = ParameterList()
        digest = parameters.add(NonceDigest.self)
        findUsed = try PreparedStatement("SELECT 1 FROM used_nonce WHERE digest = \(digest)", in: database)
        let insertion = Insertion<UsedNonceTable>()
        usedColumns = insertion.columns
        insertUsed = try PreparedStatement(insertion.sql, in: database)
        var list = SelectList()
        storedColumns = list.add(NonceTable.self)
        findStored = try PreparedStatement(
            "SELECT \(list) FROM nonce WHERE digest = \(digest)", in: database)
        useStored = try PreparedStatement(
            "UPDATE nonce SET is_used = 1 WHERE digest = \(digest)", in: database)
    }

    func load(_ digest: NonceDigest, into set: inout WorkingSet) throws {
        if try isUsed(digest) { set.load(usedNonce: digest) }
        if let stored = try stored(digest) { set.load(stored) }
    }

    func save(_ set: WorkingSet) throws {
        for nonce in set.usedNonces {
            insertUsed.begin()
            insertUsed.set(usedColumns.digest, nonce.digest)
            insertUsed.set(usedColumns.keptUntil, nonce.keptUntil)
            try insertUsed.execute()
        }
        for digest in set.usedStoredNonces {
            useStored.begin()
            useStored.bind(digest, to: self.digest)
            try useStored.execute()
        }
    }

    private func isUsed(_ digest: NonceDigest) throws -> Bool {
        findUsed.begin()
        findUsed.bind(digest, to: self.digest)
        defer { findUsed.finish() }
        return try findUsed.step()
    }

    private func stored(_ digest: NonceDigest) throws -> NonceRecord? {
        findStored.begin()
        findStored.bind(digest, to: self.digest)
        defer { findStored.finish() }
        guard try findStored.step(), let expiresAt = findStored[storedColumns.expiresAt] else { return nil }
        return NonceRecord(
            digest: digest, expiresAt: expiresAt, isUsed: findStored[storedColumns.isUsed] == true)
    }
}
