import Foundation
import TestSupport
import Testing

/// The packages of `clients/` in other languages than Swift, whose package has tests of its own.
@Suite struct ClientPackageTests {
    @Test(.timeLimit(.hung), arguments: ["python", "javascript", "go", "java"])
    func `a package plays all vectors, and lives a person's life with siwa`(language: String) async throws {
        let run = try await ProgramRun.of(
            ProjectFolder.root.appending(path: "scripts/test-clients"), [language])
        #expect(run.status == 0, "\(run.output)")
    }
}
