import Encodings
import HTTPEngine

/// Finds the page of a path among all pages of the console.
struct ConsoleRoutes: Sendable {
    enum Match {
        case page(ConsolePage, parameters: [String: String])
        /// The path has pages, but none for this method.
        case otherMethod(allowed: [ConsolePage.Method])
        case none
    }

    private struct Route: Sendable {
        let page: ConsolePage
        let segments: [Segment]

        var parameterCount: Int { segments.count { $0.name != nil } }
    }

    private struct Segment: Sendable, Hashable {
        let text: String
        /// The name of a value; `nil` for fixed text.
        let name: String?

        init(_ text: Substring) {
            let isValue = text.hasPrefix("{") && text.hasSuffix("}")
            name = isValue ? String(text.dropFirst().dropLast()) : nil
            self.text = isValue ? "{}" : String(text)
        }
    }

    private let routes: [Route]

    /// Two pages with the same method and path are a programmer's error.
    init(_ pages: [ConsolePage]) {
        routes = pages.map { page in
            precondition(page.path.hasPrefix("/"), "\(page.path) must begin with a slash")
            return Route(page: page, segments: Self.segments(of: page.path[...]).map(Segment.init))
        }
        // A path with fixed text wins against a path with a value in its place.
        .sorted { $0.parameterCount < $1.parameterCount }
        let shapes = routes.map { [$0.page.method.rawValue] + $0.segments.map(\.text) }
        precondition(Set(shapes).count == shapes.count, "two pages have the same path")
    }

    /// - Parameter path: The path below the console's root, still percent-encoded.
    func match(_ method: ConsolePage.Method, _ path: Substring) -> Match {
        var segments: [String] = []
        for segment in Self.segments(of: path) {
            // A segment that cannot be decoded names nothing.
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

    private static func parameters(of template: [Segment], in segments: [String]) -> [String: String]? {
        guard template.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(template, segments) {
            if let name = part.name {
                guard !segment.isEmpty else { return nil }
                parameters[name] = segment
            } else if !part.text.isByteEqual(to: segment) {
                return nil
            }
        }
        return parameters
    }
}
