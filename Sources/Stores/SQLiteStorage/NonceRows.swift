import AppleAccounts
import GRDB
import SQLTables

/// The nonces that sign-ins have used up, by their digests.
final class NonceRows {
    private let find: KeyedSelect<NonceDigest>
    private let insert: PreparedStatement
    private let columns: UsedNonceTable

    init(in database: Database) throws {
        find = try KeyedSelect(in: database) { "SELECT 1 FROM used_nonce WHERE digest = \($0)" }
        let insertion = Insertion<UsedNonceTable>()
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
    }

    func load(_ digest: NonceDigest, into set: inout WorkingSet) throws {
        if try find.first(digest, { _ in true }) == true { set.load(usedNonce: digest) }
    }

    func save(_ set: WorkingSet) throws {
        for nonce in set.usedNonces {
            insert.begin()
            insert.set(columns.digest, nonce.digest)
            insert.set(columns.keptUntil, nonce.keptUntil)
            try insert.execute()
        }
    }
}
