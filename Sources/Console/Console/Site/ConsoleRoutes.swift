import Encodings
import HTTPEngine

/// Finds the page for a path among all console pages.
struct ConsoleRoutes: Sendable {
    enum Match {
        case page(ConsolePage, parameters: [String: String])
        /// The path has pages, but none with this method.
        case otherMethod(allowed: [ConsolePage.Method])
        case none
    }

    /// Pages, each with the segments of its path.
    private let routes: [(page: ConsolePage, segments: [Substring])]

    /// Creates the route table. Two pages with the same method and path are a programming error.
    init(_ pages: [ConsolePage]) {
        routes = pages.map { page in
            precondition(page.path.hasPrefix("/"), "\(page.path) must begin with a slash")
            return (page, Self.segments(of: page.path[...]))
        }
        // Fixed text takes precedence over a parameter in the same place.
        .sorted { $0.segments.count(where: Self.isValue) < $1.segments.count(where: Self.isValue) }
        let shapes = routes.map { page, segments in
            [page.method.rawValue] + segments.map { Self.isValue($0) ? "{}" : String($0) }
        }
        precondition(Set(shapes).count == shapes.count, "two pages have the same path")
    }

    /// - Parameter path: The path below the console's root, still percent-encoded.
    func match(_ method: ConsolePage.Method, _ path: Substring) -> Match {
        var segments: [String] = []
        for segment in Self.segments(of: path) {
            // A segment that cannot be decoded matches nothing.
            guard let decoded = try? PercentEncoding.decode(segment) else { return .none }
            segments.append(decoded)
        }
        var allowed: [ConsolePage.Method] = []
        for route in routes {
            guard let parameters = Self.parameters(of: route.segments, in: segments) else { continue }
            if route.page.method == method { return .page(route.page, parameters: parameters) }
            allowed.append(route.page.method)
        }
        return allowed.isEmpty ? .none : .otherMethod(allowed: allowed)
    }

    private static func segments(of path: Substring) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Returns true for a parameter name, and false for fixed text.
    private static func isValue(_ segment: Substring) -> Bool {
        segment.hasPrefix("{") && segment.hasSuffix("}")
    }

    private static func parameters(of template: [Substring], in segments: [String]) -> [String: String]? {
        guard template.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(template, segments) {
            if isValue(part) {
                guard !segment.isEmpty else { return nil }
                parameters[String(part.dropFirst().dropLast())] = segment
            } else if !String(part).isByteEqual(to: segment) {
                return nil
            }
        }
        return parameters
    }
}

/// Decodes the fields of a query or form (URL Standard §5.1). If a name is repeated, its first field is used.
enum ConsoleFields {
    /// Maximum length of a query or form in bytes.
    static let mostBytes = 65_536
    /// Maximum number of fields in a query or form.
    static let mostFields = 256

    /// Returns `nil` if there are too many bytes or fields, an escape is broken, or bytes are not UTF-8.
    static func decode(_ bytes: some Collection<UInt8>) -> [String: String]? {
        guard bytes.count <= mostBytes else { return nil }
        var fields: [String: String] = [:]
        var count = 0
        for pair in Array(bytes).split(separator: UInt8(ascii: "&")) {
            count += 1
            guard count <= mostFields else { return nil }
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = decoded(pair[..<mark]), let value = decoded(pair[mark...].dropFirst()) else {
                return nil
            }
            if fields[name] == nil { fields[name] = value }
        }
        return fields
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.withUnsafeBufferPointer { bytes in
            try? PercentEncoding.decode(bytes, plus: UInt8(ascii: " ")).get()
        }
    }
}

/// Checks the console paths that a response may redirect or link to.
enum ConsolePath {
    /// Returns the full path for a path below the console's root, or for a path that already begins with the
    /// root. Anything else, such as an address on another site, becomes the root.
    static func full(_ path: String) -> String {
        safe(path) ?? safe(ConsoleSite.root + path) ?? ConsoleSite.root
    }

    /// Returns the text if it is a console path with an optional query. Refuses text that could lead elsewhere:
    /// two slashes would name another host, some browsers treat a backslash like a slash, and a line break would
    /// begin another header.
    static func safe(_ path: String?) -> String? {
        guard let path, path.utf8.count <= 2048,
            path == ConsoleSite.root || path.hasPrefix(ConsoleSite.root + "/"), !path.contains("//"),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return path
    }
}
