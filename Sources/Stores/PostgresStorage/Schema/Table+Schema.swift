import SQLTables

extension Table {
    /// The column definitions of CREATE TABLE. Wide columns come first, so that no row has gaps for alignment; columns
    /// of one width keep the order of the declaration.
    static var schema: String { schema(.all) }

    /// The definitions of the chosen columns, for a table to which a later migration adds the others.
    static func schema(_ choice: ColumnChoice<Self>) -> String {
        let columns = declarations(choice)
        return columns.indices
            .sorted { (-columns[$0].alignment, $0) < (-columns[$1].alignment, $1) }
            .map { columns[$0].definition }.joined(separator: ",\n    ")
    }

    /// The statement that adds the chosen columns to the table.
    static func adding(_ choice: ColumnChoice<Self>) -> String {
        let columns = declarations(choice).map { "ADD COLUMN \($0.definition)" }
        return "ALTER TABLE \(name) \(columns.joined(separator: ", "));"
    }
}

extension ColumnDeclaration {
    /// Bytes that the column is aligned to in a row. Texts and bytes, which have no fixed place, come last.
    fileprivate var alignment: Int {
        switch form {
        case .integer: integerSize
        case .boolean: 1
        case .uniqueID: 0
        case .text, .bytes: -1
        }
    }

    private var integerSize: Int {
        switch bound {
        case .range(let values) where values.upperBound <= Int64(Int16.max): 2
        case .nameNumber: 4
        case nil, .range, .length: 8
        }
    }

    fileprivate var definition: String {
        let type =
            switch form {
            case .integer: integerSize == 2 ? "smallint" : integerSize == 4 ? "integer" : "bigint"
            case .text: #"text COLLATE "C""#
            case .boolean: "boolean"
            case .uniqueID: "uuid"
            case .bytes: "bytea"
            }
        let condition = condition(byteCount: "octet_length").map { " CHECK (\($0))" } ?? ""
        return "\(name) \(type)\(presence == .required ? " NOT NULL" : "")\(condition)"
    }
}
