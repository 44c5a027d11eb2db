import AppleAccounts
import GRDB
import SQLTables

/// Finds and inserts the digests of used nonces.
final class NonceRows {
    private let find: KeyedSelect<NonceDigest, Void>
    private let insert: Insertion<UsedNonceTable>

    init(in database: Database) throws {
        find = try KeyedSelect(in: database) { "SELECT 1 FROM used_nonce WHERE digest = \($0)" }
        insert = try Insertion(in: database)
    }

    func load(_ digest: NonceDigest, into set: inout WorkingSet) throws {
        if try find.hasRow(digest) { set.load(usedNonce: digest) }
    }

    func save(_ set: WorkingSet) throws {
        for nonce in set.usedNonces {
            try insert {
                $1.set($0.digest, nonce.digest)
                $1.set($0.keptUntil, nonce.keptUntil)
            }
        }
    }
}
