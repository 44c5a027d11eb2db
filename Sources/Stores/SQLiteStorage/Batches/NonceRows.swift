import AppleAccounts
import GRDB
import SQLTables

/// The nonces that sign-ins have used up, by their digests.
final class NonceRows {
    private let find: PreparedStatement
    private let digest: Parameter<NonceDigest>
    private let insert: PreparedStatement
    private let columns: UsedNonceTable

    init(in database: Database) throws {
        var parameters = ParameterList()
        digest = parameters.add(NonceDigest.self)
        find = try PreparedStatement("SELECT 1 FROM used_nonce WHERE digest = \(digest)", in: database)
        let insertion = Insertion<UsedNonceTable>()
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
    }

    func load(_ digest: NonceDigest, into set: inout WorkingSet) throws {
        find.begin()
        find.bind(digest, to: self.digest)
        defer { find.finish() }
        if try find.step() { set.load(usedNonce: digest) }
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
