import Foundation
import StrictJSON
import TestSupport
import Testing

/// The verifiers of `docs/events.md`, with the webhooks of `Fixtures/webhooks`.
@Suite struct WebhookVerifierTests {
    /// The lines that each verifier must print.
    private static func expected() throws -> [String] {
        let folder = PythonTools.root.appendingPathComponent("Fixtures/webhooks")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
            let content = try Data(contentsOf: folder.appendingPathComponent(name))
            let fixture = try JSONValue(parsing: Array(content))
            return [name, fixture["verdict"]?.string, fixture["code"]?.string, fixture["id"]?.string]
                .compactMap { $0 }.joined(separator: " ")
        }
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `a verifier of the page judges every webhook as the fixtures say`(language: ExampleBackend)
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let verdicts = try await language.verdicts(in: directory).map(String.init)
            let expected = try Self.expected()
            #expect(Set(verdicts).symmetricDifference(expected).isEmpty)
            #expect(verdicts.count == expected.count && expected.count > 50)
        }
    }
}
