import HTTPEngine
import NIOHTTP1

/// Finds the call for a method and a path by comparing bytes.
struct RouteTable: Sendable {
    struct Match {
        let endpoint: Endpoint
        /// The value in the path, still percent-encoded.
        var parameter: Substring?
        /// The second value in the path, still percent-encoded.
        var secondParameter: Substring?
    }

    /// A path and its calls.
    private struct Entry {
        let template: PathTemplate
        var endpoints: [Endpoint]

        var allow: String {
            let isReadable = endpoints.contains { $0.origins == .readers }
            return (endpoints.map(\.method.allowed) + (isReadable ? ["OPTIONS"] : [])).joined(separator: ", ")
        }
    }

    static let all = RouteTable(Endpoint.all)

    /// Paths without values. The table searches them first, so that `/v1/credentials/query` does not match as
    /// a credential whose subject is "query".
    private var fixed: [Entry] = []
    private var others: [Entry] = []

    private init(_ endpoints: [Endpoint]) {
        for endpoint in endpoints {
            let template = PathTemplate(endpoint.path)
            let entries = template.hasValues ? \Self.others : \Self.fixed
            let place = self[keyPath: entries].firstIndex { $0.template == template }
            if let place {
                self[keyPath: entries][place].endpoints.append(endpoint)
            } else {
                self[keyPath: entries].append(Entry(template: template, endpoints: [endpoint]))
            }
        }
    }

    /// Returns the call for a method and a path. Throws `not_found` or `method_not_allowed`.
    ///
    /// - Parameter isServed: Returns `true` if this deployment serves the call. Requests to any other call
    ///   get `not_found`, regardless of the method.
    func match(
        _ method: HTTPMethod, _ path: Substring, isServed: (Endpoint) -> Bool = { _ in true }
    ) throws(Problem) -> Match {
        guard let (entry, values) = find(path), isServed(entry.endpoints[0]) else { throw Problem(.notFound) }
        for endpoint in entry.endpoints
        where endpoint.method.isMeant(by: method) || (method == .OPTIONS && endpoint.origins == .readers) {
            return Match(endpoint: endpoint, parameter: values.first, secondParameter: values.second)
        }
        throw Problem(.methodNotAllowed, allow: entry.allow)
    }

    /// Returns a call with the path and any method; `nil` if no call has the path.
    func endpoint(at path: Substring) -> Endpoint? { find(path)?.entry.endpoints[0] }

    private func find(_ path: Substring) -> (entry: Entry, values: PathTemplate.Values)? {
        for entry in fixed where entry.template.isEqual(to: path) { return (entry, PathTemplate.Values()) }
        for entry in others {
            if let values = entry.template.values(in: path) { return (entry, values) }
        }
        return nil
    }
}

/// A path template with at most two names in braces.
struct PathTemplate: Sendable, Equatable {
    struct Values {
        var first: Substring?
        var second: Substring?
    }

    private enum Piece: Sendable, Equatable {
        case text([UInt8])
        case value
    }

    private let text: [UInt8]
    private let pieces: [Piece]

    init(_ template: StaticString) {
        text = Array(template.bytes)
        var pieces: [Piece] = []
        for part in template.description.split(separator: "{", omittingEmptySubsequences: false) {
            guard let end = part.firstIndex(of: "}") else {
                pieces.append(.text(Array(part.utf8)))
                continue
            }
            pieces.append(.value)
            let rest = part[part.index(after: end)...]
            if !rest.isEmpty { pieces.append(.text(Array(rest.utf8))) }
        }
        self.pieces = pieces
    }

    var hasValues: Bool { pieces.contains(.value) }

    func isEqual(to path: Substring) -> Bool {
        guard path.utf8.count == text.count else { return false }
        let result = path.utf8.withContiguousStorageIfAvailable { $0.elementsEqual(text) }
        return result ?? path.utf8.elementsEqual(text)
    }

    /// Returns the values in a path; `nil` if the path does not match. A value is one non-empty segment.
    func values(in path: Substring) -> Values? {
        var values = Values()
        var rest = path.utf8
        for piece in pieces {
            switch piece {
            case .text(let text):
                guard rest.count >= text.count, rest.prefix(text.count).elementsEqual(text) else {
                    return nil
                }
                rest = rest.dropFirst(text.count)
            case .value:
                let segment = rest.prefix { $0 != UInt8(ascii: "/") }
                guard !segment.isEmpty else { return nil }
                if values.first == nil {
                    values.first = Substring(segment)
                } else {
                    values.second = Substring(segment)
                }
                rest = rest[segment.endIndex...]
            }
        }
        return rest.isEmpty ? values : nil
    }
}
