import AppleAccounts
import Cryptography
import GRDB
import SQLTables

/// Appends to the audit log, inside a transaction. Only one connection writes, so the rows are in commit
/// order.
final class AuditWriter {
    private let insert: Insertion<AuditTable>
    private let moveHead: PreparedStatement
    private let lastSequence: Column<Int64>
    private let lastHash: Column<SHA256Digest>

    init(in database: Database) throws {
        insert = try Insertion(in: database)
        var parameters = ParameterList()
        let bound = parameters.add(
            columnsOf: AuditChainTable.self, .only { [$0[\.head.sequence], $0[\.head.hash]] })
        (lastSequence, lastHash) = (bound.columns[\.head.sequence], bound.columns[\.head.hash])
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
            try insert { $0.write(AuditRow(sealed, link: link), to: $1) }
        }
        moveHead.begin()
        moveHead.set(lastSequence, link.sequence)
        moveHead.set(lastHash, link.hash)
        try moveHead.execute()
    }
}
