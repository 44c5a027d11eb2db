/// Names of columns as the parts of SQL text that are made of them.
package struct ColumnNames: Sendable, CustomStringConvertible {
    package let names: [String]

    package init(_ names: [String]) {
        self.names = names
    }

    /// "a, b"
    package var description: String { names.joined(separator: ", ") }

    /// "c.a, c.b"
    package func of(_ alias: String) -> String { joined { "\(alias).\($0)" } }

    /// "a = n.a, b = n.b", for an UPDATE from another relation.
    package func assigned(from alias: String) -> String { joined { "\($0) = \(alias).\($0)" } }

    /// "a = NULL, b = NULL"
    package var cleared: String { joined { "\($0) = NULL" } }

    private func joined(_ term: (String) -> String) -> String { names.map(term).joined(separator: ", ") }
}
