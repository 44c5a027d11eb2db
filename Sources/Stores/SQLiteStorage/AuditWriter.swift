import AppleAccounts
import GRDB
import SQLTables

/// Appends to the audit log, inside a transaction. The only connection that writes keeps the rows in the order of
/// their commits.
final class AuditWriter {
    private let findChain: PreparedStatement
    private let chainColumns: AuditChainTable
    private let insert: PreparedStatement
    private let columns: AuditTable
    private let moveHead: PreparedStatement
    private let head: BoundColumns<AuditChainTable>
    private let hasAccount: PreparedStatement
    private let account: Parameter<AccountID>

    init(in database: Database) throws {
        var list = SelectList()
        chainColumns = list.add(AuditChainTable.self)
        findChain = try PreparedStatement("SELECT \(list) FROM audit_chain WHERE id = 1", in: database)
        let insertion = Insertion<AuditTable>()
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
        var parameters = ParameterList()
        head = parameters.add(columnsOf: AuditChainTable.self, .only { [$0.lastSequence, $0.lastHash] })
        moveHead = try PreparedStatement(
            "UPDATE audit_chain SET \(head.assignments) WHERE id = 1", in: database)
        var accountParameters = ParameterList()
        account = accountParameters.add(AccountID.self)
        hasAccount = try PreparedStatement(
            "SELECT 1 FROM subject WHERE account_id = \(account)", in: database)
    }

    func append(
        _ entries: [AuditEntry], using generator: inout some RandomNumberGenerator
    ) throws {
        guard !entries.isEmpty else { return }
        var link = try chain().head
        for entry in entries {
            let sealed = SealedAuditEntry(entry, using: &generator)
            link = link.next(sealed.canonicalBytes)
            insert.begin()
            columns.write(sealed, to: insert)
            columns.write(link, to: insert)
            try insert.execute()
        }
        moveHead.begin()
        moveHead.set(head.columns.lastSequence, link.sequence)
        moveHead.set(head.columns.lastHash, link.hash)
        try moveHead.execute()
    }

    /// Returns the entry, without its person if the account does not exist.
    func withKnownPerson(_ entry: AuditEntry) throws -> AuditEntry {
        guard let person = entry.person else { return entry }
        hasAccount.begin()
        hasAccount.bind(person.account, to: account)
        defer { hasAccount.finish() }
        return try hasAccount.step() ? entry : entry.withoutPerson
    }

    func chain() throws -> AuditChain {
        findChain.begin()
        defer { findChain.finish() }
        guard try findChain.step() else { throw StorageError.noAuditChain }
        return try chainColumns.chain(findChain)
    }
}

extension StorageError {
    static let noAuditChain = StorageError(
        .corrupted, detail: "expected one row in audit_chain, found none; restore a backup")
}
