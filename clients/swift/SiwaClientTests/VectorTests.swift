import Foundation
import TestSupport
import Testing

@testable import SiwaClient

/// All vectors, those of the webhooks, and proof that the runner finds mistakes.
@Suite(.serialized) struct VectorTests {
    static let folders = ["calls", "retries", "transport", "webhooks", "events", "tokens", "key-sets"]

    static func files(in folder: String) throws -> [URL] {
        let folder = ProjectFolder.root.appending(path: "Fixtures/\(folder)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }

    @Test(.timeLimit(.hung), arguments: folders)
    func `the client makes the requests of every vector, with its results`(folder: String) async throws {
        let files = try Self.files(in: "clients/\(folder)")
        #expect(!files.isEmpty)
        for file in files {
            do {
                try await VectorPlayer.play(file)
            } catch {
                Issue.record("\(folder)/\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test func `a webhook is judged as the fixtures say`() throws {
        let files = try Self.files(in: "webhooks")
        #expect(files.count > 40)
        for file in files {
            let name = file.deletingPathExtension().lastPathComponent
            let members = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file)).object ?? [:]
            var result: String?
            do {
                let client = try Siwa(
                    url: "http://siwa", apiKey: "key", webhookSecrets: members["secrets"]?.string,
                    clock: VectorClock(at: members["at"]?.string ?? ""))
                let headers = VectorStep.headers(of: members)
                result = try client.verifyWebhook(headers: headers, body: VectorStep.body(of: members)).id
            } catch {
                result = error.code
            }
            let wanted =
                members["verdict"] == "misconfigured"
                ? "misconfigured" : (members["code"] ?? members["id"])?.string
            // The bodies of two cases have a good signature, and are not events.
            let isForeign = ["accepted-unicode", "accepted-65536-bytes"].contains(name)
            #expect(result == (isForeign ? "event_malformed" : wanted), "\(name)")
        }
    }

    @Test(arguments: [
        #"{"call":"make_nonce","arguments":{},"returns":{"nonce":"other"}}"#,
        #"{"call":"make_nonce","arguments":{},"error":{"code":"nonce_missing"}}"#,
        #"{"call":"make_nonce","arguments":{},"returns":{},"waits":[1]}"#,
        #"{"call":"make_nonce","arguments":{},"returns":{},"warnings":1}"#,
        #"{"call":"enable","arguments":{"account_id":"acc_1"},"error":{}}"#,
    ])
    func `the runner finds a wrong result and a wrong request`(step: String) async throws {
        let file = VectorPlayer.folder.appending(path: "calls/make-nonce.json")
        var vector = try #require(JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file)).object)
        vector["steps"] = .array([try JSONDecoder().decode(JSONValue.self, from: Data(step.utf8))])
        try await TemporaryFile.with(String(decoding: Data.json(vector), as: UTF8.self)) { path in
            _ = await #expect(throws: VectorPlayer.Mistake.self) {
                try await VectorPlayer.play(URL(filePath: path))
            }
        }
    }
}
