import Foundation
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
        let sources = package.components(separatedBy: "\nlet tests = [")[0]
        let modules = sources.matches(of: /\bModule\(\s*"(\w+)"/).map { String($0.1) }
        let dependencies = package.matches(of: /url: "([^"]+?)(?:\.git)?"/).map { String($0.1) }
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
