import Foundation
import Testing

/// `docs/integrate.md` shows programs that `BackendHandlerTests` runs.
@Suite struct IntegrationPageTests {
    @Test(arguments: ExampleBackend.allCases)
    func `the page shows the backends as they are`(language: ExampleBackend) throws {
        let page = try String(
            contentsOf: PythonTools.root.appendingPathComponent("docs/integrate.md"), encoding: .utf8)
        let folder = ExampleBackend.folder.appendingPathComponent(language.rawValue)
        for file in language.shownFiles {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            #expect(
                page.contains("```\(language.rawValue)\n\(text)```"),
                "docs/backends/\(language.rawValue)/\(file) differs from docs/integrate.md")
        }
    }
}
