import HTTPEngine

/// The query of a request, which may have only the parameters that the route knows.
///
/// An unknown or repeated name is an error: a misspelled `after` that was ignored would return the whole feed
/// again.
struct Query: Sendable {
    private static let mostPairs = 64

    private let values: [(name: String, value: String)]

    /// Throws `parameter_unknown`, `parameter_malformed` or `character_not_allowed`.
    init(parsing query: Substring?, allowing names: [String]) throws(Problem) {
        var values: [(name: String, value: String)] = []
        var (rest, pairs) = (query, 0)
        while let text = rest {
            let pair: Substring
            (pair, rest) = text.cut(at: UInt8(ascii: "&"))
            pairs += 1
            // Empty pairs count too: a query can be as long as a header.
            guard pairs <= Self.mostPairs else { throw Problem(.parameterUnknown) }
            guard !pair.isEmpty else { continue }
            let (spelling, encoded) = pair.cut(at: UInt8(ascii: "="))
            guard let name = names.first(where: { spelling.isByteEqual(to: $0) }),
                !values.contains(where: { $0.name == name })
            else { throw Problem.unknownParameter(spelling.utf8) }
            guard let encoded, !encoded.isEmpty else {
                throw Problem(.parameterMalformed, subject: .parameter(name))
            }
            do throws(PercentEncoding.Failure) {
                values.append((name, try PercentEncoding.decode(encoded)))
            } catch {
                throw error.problem(.parameterMalformed, subject: .parameter(name))
            }
        }
        self.values = values
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    /// Throws `parameter_missing`.
    func required(_ name: String) throws(Problem) -> String {
        guard let value = self[name] else { throw Problem(.parameterMissing, subject: .parameter(name)) }
        return value
    }

    /// A decimal number within `bounds`; throws `parameter_malformed` for anything else.
    func number(_ name: String, in bounds: ClosedRange<Int64>, default fallback: Int64) throws(Problem)
        -> Int64
    {
        guard let text = self[name] else { return fallback }
        guard text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let value = Int64(text), bounds.contains(value)
        else { throw Problem(.parameterMalformed, subject: .parameter(name)) }
        return value
    }
}
