import Foundation
import Testing

/// The page on the audit log has the words of the log.
@Suite struct AuditPageTests {
    private static let page = Document.read("docs/audit.md")

    private static func words(of file: String, after start: String) -> [String] {
        let text = Document.read("Sources/Domain/AppleAccounts/Audit/\(file).swift").text
        let declaration =
            text.components(separatedBy: start).dropFirst().first?
            .components(separatedBy: "\n}")[0].components(separatedBy: "\n    }")[0] ?? ""
        return declaration.matches(of: #/case (\w+)(?: = "([a-z_]+)")?/#).map { match in
            match.output.2.map(String.init) ?? String(match.output.1)
        }
    }

    @Test func `the page explains every kind of row, and no other`() throws {
        let words = Self.words(of: "AuditAction", after: "enum AuditAction")
        #expect(words.count > 15)
        let table = try #require(Self.page.text.components(separatedBy: "\n| `action` |").dropFirst().first)
            .components(separatedBy: "\n\n")[0]
        let explained = table.matches(of: /\n\| ((?:`[a-z_]+`(?:, )?)+) \|/)
            .flatMap { $0.1.matches(of: /[a-z_]+/).map { String($0.0) } }
        #expect(explained.sorted() == words.sorted())
    }

    @Test func `the page explains every kind of actor, and no other`() throws {
        let words = Self.words(of: "AuditActor", after: "enum Kind")
        #expect(words.count > 5)
        let table = try #require(
            Self.page.text.components(separatedBy: "\n| `actor_kind` |").dropFirst().first
        )
        .components(separatedBy: "\n\n")[0]
        let explained = table.matches(of: /\n\| ((?:`[a-z_]+`(?:, )?)+) \|/)
            .flatMap { $0.1.matches(of: /[a-z_]+/).map { String($0.0) } }
        #expect(explained.sorted() == words.sorted())
    }
}
