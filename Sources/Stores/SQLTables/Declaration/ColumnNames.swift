/// Names of columns, in the forms of SQL text that are made of them.
public struct ColumnNames: Sendable, CustomStringConvertible {
    public let names: [String]

    public init(_ names: [String]) {
        self.names = names
    }

    /// "a, b"
    public var description: String { names.joined(separator: ", ") }

    /// "c.a, c.b"
    public func of(_ alias: String) -> String { joined { "\(alias).\($0)" } }

    /// "a = n.a, b = n.b", for an UPDATE from another relation.
    public func assigned(from alias: String) -> String { joined { "\($0) = \(alias).\($0)" } }

    /// "a = NULL, b = NULL"
    public var cleared: String { joined { "\($0) = NULL" } }

    private func joined(_ term: (String) -> String) -> String { names.map(term).joined(separator: ", ") }
}
