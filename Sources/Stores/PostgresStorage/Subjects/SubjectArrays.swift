import AppleAccounts
import SQLTables

/// Subjects whose wide rows must be written.
struct SubjectArrays {
    private static let update = TableWrite<SubjectTable>("update_subjects", .row) { rows in
        """
        UPDATE subject AS s SET \(SubjectTable.names(.facts).assigned(from: "n"))
        FROM \(rows.relation("n")) WHERE s.id = n.id
        """
    }
    private static let insert = TableWrite<SubjectTable>(inserting: "insert_subjects")

    private var rows: [(id: Int64, record: SubjectRecord)] = []

    mutating func add(_ record: SubjectRecord, rowID: Int64) {
        rows.append((rowID, record))
    }

    /// Returns `nil` when there is no subject.
    func updateCall() -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = Self.update.columns
        return Self.update.statement.call(rows) { item, row in
            columns.write(item.record, to: row)
            row.set(columns.id, item.id)
        }
    }

    /// Returns the insertion in the order in which the subjects were added; `nil` when there is no subject.
    func insertCall(_ names: PostgresNames) throws -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = Self.insert.columns
        return try Self.insert.statement.call(rows) { item, row in
            columns.write(item.record, to: row)
            row.set(columns.id, item.id)
            row.set(columns.teamID, try names.teams.ensuredNumber(of: item.record.key.team))
        }
    }
}
