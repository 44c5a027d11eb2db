import AppleAccounts
import SQLTables

/// Subjects whose wide rows are to be written.
struct SubjectArrays {
    private struct Update {
        let columns: SubjectTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(SubjectTable.self, .row)
            statement = RowStatement(
                "update_subjects", rows,
                """
                UPDATE subject AS s SET \(SubjectTable.names(.facts).assigned(from: "n"))
                FROM \(rows.relation("n")) WHERE s.id = n.id
                """)
        }
    }

    private struct Insert {
        let columns: SubjectTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(SubjectTable.self)
            statement = RowStatement(
                "insert_subjects", rows, "INSERT INTO subject (\(rows.names)) SELECT * FROM \(rows.unnest)")
        }
    }

    private static let update = Update()
    private static let insert = Insert()

    private var rowIDs: [Int64?] = []
    private var records: [SubjectRecord] = []

    mutating func add(_ record: SubjectRecord, rowID: Int64) {
        rowIDs.append(rowID)
        records.append(record)
    }

    /// Returns `nil` when there is none.
    func updateCall() -> PostgresCall? {
        guard !records.isEmpty else { return nil }
        return Self.update.statement.call { Self.update.columns.set(records, ids: rowIDs, in: &$0) }
    }

    /// In the order in which they were added. Returns `nil` when there is none.
    func insertCall(_ names: PostgresNames) throws -> PostgresCall? {
        guard !records.isEmpty else { return nil }
        let teams = try records.map { try names.teams.ensuredNumber(of: $0.key.team) }
        return Self.insert.statement.call { values in
            let columns = Self.insert.columns
            columns.set(records, ids: rowIDs, in: &values)
            values.set(columns.teamID, teams)
            values.set(columns.subject, records.map(\.key.subject.rawValue))
        }
    }
}
