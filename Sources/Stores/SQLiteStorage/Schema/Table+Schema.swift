import SQLTables

extension Table {
    /// The column definitions of CREATE TABLE, in the order of the declaration.
    static var schema: String { schema(.all) }

    /// The definitions of the chosen columns, for a table to which a later migration adds the others.
    static func schema(_ choice: ColumnChoice<Self>) -> String {
        declarations(choice).map(\.definition).joined(separator: ",\n    ")
    }

    /// The statements that add the chosen columns to the table.
    static func adding(_ choice: ColumnChoice<Self>) -> String {
        declarations(choice).map { "ALTER TABLE \(name) ADD COLUMN \($0.definition);" }
            .joined(separator: "\n")
    }
}

extension ColumnDeclaration {
    fileprivate var definition: String {
        let (type, condition): (String, String?) =
            switch form {
            case .integer: ("INTEGER", condition(byteCount: "length"))
            case .text: ("TEXT", condition(byteCount: "length"))
            case .bytes: ("BLOB", condition(byteCount: "length"))
            case .boolean: ("INTEGER", "\(name) IN (0, 1)")
            case .uniqueID: ("BLOB", "length(\(name)) = 16")
            }
        let notNull = presence == .required ? " NOT NULL" : ""
        return "\(name) \(type)\(notNull)" + (condition.map { " CHECK (\($0))" } ?? "")
    }
}
