import AppleAccounts
import CLibPQ
import SQLTables

/// The parameters of a statement that writes or reads many rows: one array per column.
struct RowParameters: Sendable {
    private struct Parameter {
        let name: String
        let sqlType: String
        let elementType: Oid
    }

    private var columns: [Parameter] = []
    /// The statement's row sets that precede this row set.
    private let earlier: [[PostgresArray]]
    /// Number of parameters that precede this row set.
    private let first: Int

    /// - Parameter before: The preceding row set of the same statement.
    init(after before: RowParameters? = nil) {
        first = before?.count ?? 0
        earlier = before?.emptySets ?? []
    }

    /// An empty array for each column of each row set.
    var emptySets: [[PostgresArray]] { earlier + [columns.map { PostgresArray(of: $0.elementType) }] }

    /// Adds table columns. Returns the table with their positions among the parameters.
    mutating func add<T: Table>(_ table: T.Type, _ choice: ColumnChoice<T> = .all) -> T {
        let (placed, chosen) = T.placed(choice, from: count)
        columns += chosen.map { column in
            let form = Self.form(of: column)
            return Parameter(
                name: column.name.description, sqlType: form.postgresType, elementType: form.type)
        }
        return placed
    }

    /// Adds a column that the table does not have in this form, such as a name where the table has a number.
    mutating func add<Value: ColumnValue>(_ name: StaticString, _ type: Value.Type) -> Column<Value> {
        add(name, sqlType: Value.form.postgresType, elementType: Value.form.type)
    }

    mutating func add<Value: PostgresSystemValue>(_ name: StaticString, _ type: Value.Type) -> Column<Value> {
        add(name, sqlType: Value.sqlType, elementType: Value.type)
    }

    private mutating func add<Value>(
        _ name: StaticString, sqlType: String, elementType: Oid
    ) -> Column<Value> {
        let column = Column<Value>(name, place: Int32(count))
        columns.append(Parameter(name: name.description, sqlType: sqlType, elementType: elementType))
        return column
    }

    /// Number of parameters in the statement, including this row set.
    var count: Int { first + columns.count }

    var names: ColumnNames { ColumnNames(columns.map(\.name)) }

    /// SQL expression for the number of rows.
    var rowCount: String { "cardinality(\(parameter(0)))::bigint" }

    /// SQL of the form "unnest($1::bigint[], $2::text[])".
    var unnest: String {
        "unnest(\(columns.indices.map(parameter).joined(separator: ", ")))"
    }

    /// Returns SQL of the form "unnest($1::bigint[], $2::text[]) AS n (id, name)".
    func relation(_ alias: String) -> String { "\(unnest) AS \(alias) (\(names))" }

    /// Returns SQL with the same rows as `relation`, for a statement that runs often. It is faster, because
    /// PostgreSQL first copies each array that it unnests to a temporary table, but reads single elements in
    /// place.
    ///
    /// It is unsuitable for strings, and for columns that are mostly NULL in large batches, because
    /// PostgreSQL finds an element behind variable-length elements only by scanning them.
    func elements(_ alias: String) -> String {
        let elements = columns.indices.map { "(\(parameter($0)))[i] AS \(columns[$0].name)" }
        return "(SELECT \(elements.joined(separator: ", ")) "
            + "FROM generate_series(1, cardinality(\(parameter(0)))) AS i) AS \(alias)"
    }

    /// Returns SQL for one column's array, for a statement that reads its elements in order.
    func array<Value>(_ column: Column<Value>) -> String { parameter(Int(column.place) - first) }

    private func parameter(_ index: Int) -> String { "$\(first + index + 1)::\(columns[index].sqlType)[]" }

    private static func form(of column: any AnyColumn) -> ColumnForm {
        switch column.valueType {
        case let type as any ColumnValue.Type: type.form
        // Columns store codes as numbers.
        case is any StorageCode.Type: .integer
        default: preconditionFailure("column \(column.name) has no form")
        }
    }
}

/// A statement whose parameters are arrays of rows.
struct RowStatement: Sendable {
    private let statement: PostgresStatement
    private let emptySets: [[PostgresArray]]

    /// - Parameter parameters: All parameters of the statement. With several row sets, these are the
    ///   parameters of the last set.
    init(_ name: String, _ parameters: RowParameters, _ sql: String) {
        statement = PostgresStatement(name, sql)
        emptySets = parameters.emptySets
    }

    /// Returns a call to the statement with one row per element. `write` is called once for each element.
    func call<Elements: Sequence>(
        _ elements: Elements, _ write: (Elements.Element, RowValues) throws -> Void
    ) rethrows -> PostgresCall {
        try call { try $0.add(elements, write) }
    }

    /// Returns a call to the statement with the row sets that `fill` adds, in their order.
    func call(_ fill: (RowValues) throws -> Void) rethrows -> PostgresCall {
        let values = RowValues(emptySets)
        try fill(values)
        return PostgresCall(statement, values.all)
    }
}

/// The rows to bind to a `RowStatement`.
final class RowValues: WritableRow {
    private var arrays: [PostgresArray]
    /// Parameters of the row sets that have yet to be added.
    private var sets: ArraySlice<Range<Int>>
    /// Number of complete rows in the current set.
    private var rowCount = 0

    fileprivate init(_ emptySets: [[PostgresArray]]) {
        arrays = emptySets.flatMap(\.self)
        var (ranges, start): ([Range<Int>], Int) = ([], 0)
        for set in emptySets {
            ranges.append(start..<start + set.count)
            start += set.count
        }
        sets = ranges[...]
    }

    /// Adds the next set's rows. Columns that `write` does not set are NULL.
    func add<Elements: Sequence>(
        _ elements: Elements, _ write: (Elements.Element, RowValues) throws -> Void
    ) rethrows {
        guard let set = sets.popFirst() else { preconditionFailure("the statement has no more sets of rows") }
        rowCount = 0
        for element in elements {
            try write(element, self)
            rowCount += 1
            for place in set where arrays[place].count < rowCount { arrays[place].appendNull() }
        }
    }

    func set<Value: ColumnValue>(_ column: Column<Value>, _ value: Value?) {
        guard column.place >= 0, let value else { return }
        requireUnset(column)
        arrays[Int(column.place)].append(value)
    }

    func set<Value: PostgresSystemValue>(_ column: Column<Value>, _ value: Value) {
        requireUnset(column)
        arrays[Int(column.place)].append(value)
    }

    @inline(__always)
    private func requireUnset(_ column: some AnyColumn) {
        precondition(
            arrays[Int(column.place)].count == rowCount, "column \(column.name) was set twice in a row")
    }

    /// The values of all sets. Stops the process if a row set is missing, which is a programming error.
    fileprivate var all: [PostgresValue] {
        precondition(sets.isEmpty, "a set of rows is missing")
        return arrays.map { .array($0) }
    }
}

/// A `RowStatement` with its typed columns, which have positions among the parameters.
struct RowWrite<Columns: Sendable>: Sendable {
    let columns: Columns
    let statement: RowStatement

    /// - Parameter name: The statement's name. No two statements may share a name.
    init(
        _ name: String, _ columns: (inout RowParameters) -> Columns, sql: (RowParameters, Columns) -> String
    ) {
        var rows = RowParameters()
        self.columns = columns(&rows)
        statement = RowStatement(name, rows, sql(rows, self.columns))
    }

    /// Returns the call for the rows; empty if there are no elements.
    func calls<Elements: Collection>(
        _ elements: Elements, _ write: (Columns, Elements.Element, RowValues) throws -> Void
    ) rethrows -> [PostgresCall] {
        elements.isEmpty ? [] : [try statement.call(elements) { try write(columns, $0, $1) }]
    }
}

extension RowWrite where Columns: Table {
    /// - Parameter choice: The columns of the rows.
    init(_ name: String, _ choice: ColumnChoice<Columns> = .all, sql: (RowParameters) -> String) {
        self.init(name) {
            $0.add(Columns.self, choice)
        } sql: { rows, _ in
            sql(rows)
        }
    }

    /// Creates a statement that inserts the rows.
    ///
    /// - Parameter conflict: The `ON CONFLICT` clause, if any.
    init(inserting name: String, _ conflict: String = "") {
        self.init(name) { "INSERT INTO \(Columns.name) (\($0.names)) SELECT * FROM \($0.unnest) \(conflict)" }
    }
}

/// The columns of rows that contain names instead of their numbers.
struct NamedRow<T: Table>: Sendable {
    let table: T
    /// The name columns, in the order of the number columns that they replace.
    let names: [Column<ClientID>]
}

extension RowWrite {
    /// Creates a statement that inserts rows with client IDs and app names instead of their numbers.
    ///
    /// A name without a number violates NOT NULL, so no row is lost silently.
    ///
    /// - Parameter clauses: SQL that follows the rows.
    init<T>(naming name: String, _ clauses: String) where Columns == NamedRow<T> {
        let numbers = T.placed(.numbers).chosen.map(\.name)
        self.init(name) { rows in
            NamedRow(
                table: rows.add(T.self, .withoutNumbers),
                names: numbers.map { rows.add($0, ClientID.self) })
        } sql: { rows, _ in
            let values = rows.names.names.map { column in
                numbers.contains { $0.description == column }
                    ? "(SELECT id FROM \(column.dropLast(3)) WHERE name = new.\(column))" : "new.\(column)"
            }
            return """
                INSERT INTO \(T.name) (\(rows.names)) SELECT \(values.joined(separator: ", "))
                FROM \(rows.relation("new")) \(clauses)
                """
        }
    }
}
