import Foundation
import TestSupport
import Testing

@testable import TraceExport

/// The page on traces, compared with the spans of the program.
@Suite struct SpanPageTests {
    @Test func `the page has every span, and no other`() throws {
        let root = ProjectFolder.root
        let page = try String(contentsOf: root.appending(path: "docs/tracing.md"), encoding: .utf8)
        let section = try #require(
            page.components(separatedBy: "\n## Spans\n").last?.split(separator: "\n## ").first)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.1) }
        }
        let calls = names.filter { $0.contains("/") }
        #expect(calls == ["POST /v1/sign-ins"])
        #expect(names.filter { !calls.contains($0) }.sorted() == SpanName.allCases.map(\.rawValue).sorted())
    }
}
