import Foundation
import TestSupport

/// One Markdown file of the project.
struct Document: Sendable, CustomStringConvertible {
    /// Path from the root of the project.
    let path: String
    let text: String

    var description: String { path }

    static let root = ProjectFolder.root

    static let architecture = read("ARCHITECTURE.md")
    static let readme = read("README.md")

    /// All documents for readers.
    static let all: [Document] = {
        let pages = files(under: "docs").filter { $0.hasSuffix(".md") }
        return
            (["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Fixtures/README.md", "Benchmarks/README.md"]
            + pages).map(read)
    }()

    /// Missing files are empty, which fails the tests that read them.
    static func read(_ path: String) -> Document {
        let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
        return Document(path: path, text: text ?? "")
    }

    /// Paths from the root of the project.
    static func files(under folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        return (names?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }.sorted()
    }

    /// The text without its code blocks.
    var prose: String {
        var isCode = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            if isFence { isCode.toggle() }
            return !isCode && !isFence
        }.joined(separator: "\n")
    }

    /// Values in `code` in the first column of tables.
    var firstColumns: [String] {
        prose.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: " | ").first.map(String.init) }
            .flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.1) } }
    }

    /// Anchors of the headings, as GitHub derives them.
    var anchors: Set<String> {
        Set(
            prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.dropFirst().lowercased().filter { character in
                    character.isLetter || character.isNumber || " -_".contains(character)
                }.replacing(" ", with: "-")
            })
    }
}
