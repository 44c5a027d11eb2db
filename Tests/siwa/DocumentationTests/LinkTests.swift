import Foundation
import TestSupport
import Testing

/// Checks that the targets of links and paths in the pages exist.
@Suite struct LinkTests {
    @Test(arguments: Document.all)
    func `every relative link leads to a file, and every anchor to a heading`(page: Document) {
        #expect(!page.text.isEmpty)
        let folder = Document.root.appending(path: page.path).deletingLastPathComponent()
        for match in page.prose.matches(of: /\]\(([^)\s]+)\)/) {
            let link = String(match.1)
            guard !link.contains("://") else { continue }
            let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
            let target =
                parts[0].isEmpty ? Document.root.appending(path: page.path) : folder.appending(path: parts[0])
            #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(link)")
            guard parts.count == 2 else { continue }
            let text = (try? String(contentsOf: target, encoding: .utf8)) ?? ""
            #expect(Document(path: link, text: text).anchors.contains(parts[1]), "\(page): \(link)")
        }
    }

    /// Paths are in `code`, from the root of the project, or from a module or a wing in Sources or Tests; `*` matches
    /// a part of a name.
    @Test(arguments: Document.all.filter { $0.path != "CHANGELOG.md" })
    func `every file and folder of ours that a page names exists`(page: Document) {
        for match in page.prose.matches(of: /`([A-Za-z0-9_.+*-]+\/[A-Za-z0-9_.+*\/-]*)`/) {
            let path = String(match.1)
            let first = path.prefix { $0 != "/" }
            // What is built is not there before.
            guard Self.folders.contains(String(first)), !path.contains("/.build") else { continue }
            #expect(Self.exists(path), "\(page): \(path)")
        }
        for match in page.prose.matches(of: /`([A-Za-z0-9_.+*-]+\.swift)`/) {
            #expect(Self.exists(String(match.1)), "\(page): \(match.1)")
        }
    }

    @Test func `ARCHITECTURE has every module and every dependency`() {
        let package = Document.read("Package.swift").text
        // The wings of Tests follow those of Sources.
        let sources = package.components(separatedBy: "\nlet tests = ")[0]
        let modules = sources.matches(of: /\n {6}(\w+):/).map { String($0.1) }
        let dependencies = package.matches(of: /\n    ([\w-]+\/[\w.-]+?)(?:\.git)? \d/).map {
            "https://github.com/\($0.1)"
        }
        #expect(modules.count > 10 && dependencies.count > 10)
        for module in modules {
            #expect(Document.architecture.text.contains("`\(module)`"), "\(module)")
        }
        for dependency in dependencies {
            #expect(Document.architecture.text.contains("(\(dependency))"), "\(dependency)")
        }
    }

    /// First components of paths; other slashes in `code` are URLs and commands.
    private static let folders: Set<String> = {
        let ours = ["Sources", "Tests", "scripts", "docs", "Benchmarks", "Fixtures", ".ci"]
        return Set(ours + inner.flatMap { $0.split(separator: "/").dropFirst().prefix(2).map(String.init) })
    }()

    private static let inner = ["Sources", "Tests"].flatMap { Document.files(under: $0) }
    private static let all =
        ["Package.swift", "Sources", "Tests"] + inner
        + ["scripts", "docs", "Benchmarks", "Fixtures", ".ci"].flatMap { [$0] + Document.files(under: $0) }

    private static func exists(_ path: String) -> Bool {
        let wanted = path.hasSuffix("/") ? String(path.dropLast()) : path
        let pattern = NSRegularExpression.escapedPattern(for: wanted).replacing("\\*", with: ".*")
        // A name alone can stand in any folder.
        let folder = wanted.contains("/") ? "((Sources|Tests)/([A-Za-z]+/)?)?" : "(.*/)?"
        guard let regex = try? Regex("\(folder)\(pattern)") else { return false }
        return all.contains { $0.wholeMatch(of: regex) != nil }
    }
}

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
