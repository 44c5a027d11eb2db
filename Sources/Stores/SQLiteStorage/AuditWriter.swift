import AppleAccounts
import GRDB
import SQLTables

/// Appends to the audit log, inside a transaction. The only connection that writes keeps the rows in the order of
/// their commits.
final class AuditWriter {
    private let insert: PreparedStatement
    private let columns: AuditTable
    private let moveHead: PreparedStatement
    private let bound: BoundColumns<AuditChainTable>

    init(in database: Database) throws {
        let insertion = Insertion<AuditTable>()
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
        var parameters = ParameterList()
        bound = parameters.add(columnsOf: AuditChainTable.self, .only { [$0.lastSequence, $0.lastHash] })
        moveHead = try PreparedStatement(
            "UPDATE audit_chain SET \(bound.assignments) WHERE id = 1", in: database)
    }

    func append(
        _ entries: [AuditEntry], after head: AuditLink, using generator: inout some RandomNumberGenerator
    ) throws {
        var link = head
        for entry in entries {
            let sealed = SealedAuditEntry(entry, using: &generator)
            link = link.next(sealed.canonicalBytes)
            insert.begin()
            columns.write(sealed, to: insert)
            columns.write(link, to: insert)
            try insert.execute()
        }
        moveHead.begin()
        moveHead.set(bound.columns.lastSequence, link.sequence)
        moveHead.set(bound.columns.lastHash, link.hash)
        try moveHead.execute()
    }
}
