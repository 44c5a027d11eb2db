public import Foundation

/// A table of calls in a page of the documentation: the calls of each row, and the words of its cell about the
/// body. Words in italics refer to a paragraph that begins with them.
public struct CallTable {
    private var rows: [(calls: [String], words: Set<String>)] = []

    /// Reads the table whose first line begins with `| call |`, after the heading.
    public init(of page: String, below heading: String) {
        let section = page.firstRange(of: "\n\(heading)\n").map { page[$0.upperBound...] } ?? ""
        let table = section.firstRange(of: "| call |").map { section[$0.lowerBound...] } ?? ""
        let lines = table.split(separator: "\n", omittingEmptySubsequences: false)
        let cells = lines.prefix { $0.hasPrefix("|") }.map { line in
            Array(line.components(separatedBy: "|").dropFirst().dropLast())
        }
        let column = cells.first?.firstIndex { $0.contains("body") } ?? 1
        for row in cells.dropFirst(2) {
            let groups = row[column].matches(of: /\*([a-z]+)\*/).map(\.1)
            let paragraphs = groups.flatMap { name in
                section.components(separatedBy: "\n\n").filter { $0.lowercased().hasPrefix("*\(name)*") }
            }
            rows.append(
                (Self.calls(in: row[0]), Set(([row[column]] + paragraphs).flatMap { Self.words(in: $0) })))
        }
    }

    private static func words(in text: String) -> [String] {
        text.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// Returns the calls of a cell such as "`GET`, `DELETE /a/b`, `POST …/c`, `/d`". Methods alone belong to the
    /// next path. A path alone has the last method. A path of one part replaces the last part of the path
    /// before it.
    private static func calls(in cell: String) -> [String] {
        var (methods, last, path, calls) = ([String](), "", "", [String]())
        for word in words(in: cell) {
            var parts = word.split(separator: " ").map(String.init)
            if !word.hasPrefix("/") { methods.append(parts.removeFirst()) }
            guard let next = parts.first?.prefix(while: { $0 != "?" }) else { continue }
            if next.hasPrefix("…") {
                path += next.dropFirst()
            } else if !path.isEmpty, next.split(separator: "/").count == 1 {
                path = path.split(separator: "/").dropLast().map { "/\($0)" }.joined() + next
            } else {
                path = String(next)
            }
            if methods.isEmpty { methods = [last] }
            calls += methods.map { "\($0) \(path)" }
            last = methods.removeLast()
            methods = []
        }
        return calls
    }

    /// Returns the differences between the table and an OpenAPI document: calls and members of only one of
    /// them. Besides members, a cell may have their values.
    public func differences(from document: Data) throws -> [String] {
        let json = try JSONSerialization.jsonObject(with: document) as? [String: Any]
        var declared: [String: (members: Set<String>, values: Set<String>)] = [:]
        for (path, item) in json?["paths"] as? [String: [String: [String: Any]]] ?? [:] {
            for (method, operation) in item {
                let body = operation["requestBody"] as? [String: Any]
                let content = body?["content"] as? [String: [String: Any]]
                let schema = content?["application/json"]?["schema"] as? [String: Any]
                let members = schema?["properties"] as? [String: [String: Any]] ?? [:]
                let values = members.values.flatMap { member -> [String] in
                    let items = member["items"] as? [String: Any]
                    let words = (member["enum"] ?? items?["enum"]) as? [String] ?? []
                    return words + ["true", "false"]
                }
                declared["\(method.uppercased()) \(path)"] = (Set(members.keys), Set(values))
            }
        }
        let listed = rows.flatMap(\.calls)
        var differences = Set(listed).subtracting(declared.keys).map { "\($0): is only in the table" }
        differences += Set(declared.keys).subtracting(listed).map { "\($0): is not in the table" }
        for row in rows {
            let calls = row.calls.compactMap { declared[$0] }
            let members = calls.reduce(into: Set<String>()) { $0.formUnion($1.members) }
            let values = calls.reduce(into: Set<String>()) { $0.formUnion($1.values) }
            differences += members.subtracting(row.words).map { "\(row.calls): \($0) is not in the table" }
            differences += row.words.subtracting(members).subtracting(values).map {
                "\(row.calls): \($0) is only in the table"
            }
        }
        return differences.sorted()
    }
}

/// The sources of the fakes.
public enum FakeSource {
    /// Returns the codes that a file declares.
    ///
    /// - Parameter path: Path in `Sources/Fakes`.
    public static func errorCodes(in path: String) throws -> [String] {
        let file = ProjectFolder.root.appending(path: "Sources/Fakes/\(path)")
        let codes = try String(contentsOf: file, encoding: .utf8).matches(of: /= Self\("([a-z_]+)", \./)
        guard !codes.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
        return codes.map { String($0.1) }
    }
}
