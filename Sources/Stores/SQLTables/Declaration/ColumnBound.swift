/// The values that the schema of both stores accepts in a column, beside NULL.
public enum ColumnBound: Sendable, Hashable {
    /// The number of characters of a text, or of bytes.
    case length(ClosedRange<Int>)
    /// The value of a number. An upper bound of `Int64.max` is no bound.
    case range(ClosedRange<Int64>)
    /// The number of a team, an app or a client, which has 32 bits.
    case nameNumber

    /// The numbers of codes. A new code needs no migration.
    static let codes = range(1...99)
}

/// Says if a row must have a value in a column.
public enum ColumnPresence: Sendable, Hashable {
    /// NOT NULL.
    case required
    case optional
}

extension ColumnDeclaration {
    /// The condition of the CHECK constraint, as SQL text. `nil` when the column needs none.
    ///
    /// - Parameter byteCount: Name of the SQL function that counts bytes.
    public func condition(byteCount: String) -> String? {
        switch bound {
        case nil, .nameNumber: nil
        case .length(let lengths):
            Self.condition(
                "\(form == .bytes ? byteCount : "length")(\(name))", Int64(lengths.lowerBound),
                Int64(lengths.upperBound))
        case .range(let values): Self.condition(name, values.lowerBound, values.upperBound)
        }
    }

    private static func condition(_ term: String, _ least: Int64, _ most: Int64) -> String {
        if least == most { return "\(term) = \(least)" }
        return most == .max ? "\(term) >= \(least)" : "\(term) BETWEEN \(least) AND \(most)"
    }
}
