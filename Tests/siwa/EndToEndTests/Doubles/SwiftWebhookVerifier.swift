import Foundation
import StrictJSON

@testable import ExampleBackend

/// Plays the fixtures of webhooks with the verifier of the Swift backend, which is built beside the tests.
enum SwiftWebhookVerifier {
    /// A line for each case, as the programs of the other languages print it.
    static func verdicts() throws -> [Substring] {
        let folder = PythonTools.root.appendingPathComponent("Fixtures/webhooks")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
            let content = try Data(contentsOf: folder.appendingPathComponent(name))
            return "\(name) \(try verdict(try JSONValue(parsing: Array(content))))"
        }
    }

    private static func verdict(_ fixture: JSONValue) throws -> String {
        let parts = (fixture["body_parts"]?.array ?? []).map { part in
            String(repeating: part["text"]?.string ?? "", count: Int(part["times"]?.integer ?? 1))
        }
        let body = fixture["body"]?.string ?? parts.joined()
        let now = try Date(fixture["at"]?.string ?? "", strategy: .iso8601)
        let verifier: WebhookVerifier
        do {
            verifier = try WebhookVerifier(secrets: fixture["secrets"]?.string ?? "")
        } catch {
            return "misconfigured"
        }
        func field(_ name: String) -> String? { fixture["headers"]?["webhook-\(name)"]?.string }
        do {
            let id = try verifier.verify(
                id: field("id"), timestamp: field("timestamp"), signature: field("signature"),
                body: Data(body.utf8), at: now)
            return "accepted \(id)"
        } catch {
            return "refused \(error.code)"
        }
    }
}
