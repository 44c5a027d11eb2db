import AppleAccounts
import Cryptography
import Encodings
import Foundation
import SecurityEvents
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import EventDelivery

@Suite struct WebhookFormatTests {
    private static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test func `a signature is that of the example of Standard Webhooks`() throws {
        let secret = try #require(WebhookSecret(Self.text))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64",
        "whsec_" + Base64.encode(Array(repeating: 1, count: 65)),
    ])
    func `a text that is no secret is refused`(text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func `signatures and secrets are those of the fixtures`() throws {
        let folder = ProjectFolder.root.appending(path: "Fixtures/webhooks")
        var compared = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let fixture = try JSONValue(parsing: Array(try Data(contentsOf: folder.appending(path: name))))
            let texts = (fixture["secrets"]?.string ?? "").split(separator: " ").map(String.init)
            let secrets = texts.compactMap { WebhookSecret($0) }
            let verdict = fixture["verdict"]?.string
            #expect((secrets.count < texts.count) == (verdict == "misconfigured"), "\(name)")
            guard verdict == "accepted", let body = fixture["body"]?.string,
                let id = fixture["headers"]?["webhook-id"]?.string,
                let time = fixture["headers"]?["webhook-timestamp"]?.string.flatMap({ Int64($0) }),
                let given = fixture["headers"]?["webhook-signature"]?.string?.split(separator: " ")
            else { continue }
            let made = secrets.map { $0.signature(id: id, timestamp: time, body: Array(body.utf8)) }
            #expect(made.contains { given.contains(Substring($0)) }, "\(name)")
            compared += 1
        }
        #expect(compared >= 9)
    }

    @Test func `a secret shows nothing of itself`() throws {
        let secret = try #require(WebhookSecret(Self.text))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!(dumped + "\(secret)").contains("MfKQ"))
    }

    @Test func `the body is the event as in the feed, and two secrets sign it`() async throws {
        let store = ReferenceStore()
        try await store.signIn(.sample())
        let event = try #require(try await store.allEvents().first)
        let other = try #require(
            WebhookSecret("whsec_" + Base64.encode(Array(repeating: 9, count: 24))))
        let format = WebhookFormat(secrets: [try #require(WebhookSecret(Self.text)), other])
        let message = try #require(format.message(for: event, at: 1_800_000_000_999))
        var json = JSONWriter()
        json.value(event)
        #expect(message.body == json.bytes)
        #expect(message.fields["webhook-id"] == event.id.rawValue)
        #expect(message.fields["webhook-timestamp"] == "1800000000")
        #expect(message.fields["content-type"] == "application/json")
        let signatures = try #require(message.fields["webhook-signature"]).split(separator: " ")
        #expect(signatures.count == 2)
        // An attempt later has another time, and so another signature.
        let later = try #require(format.message(for: event, at: 1_800_000_005_000))
        #expect(later.fields["webhook-signature"] != message.fields["webhook-signature"])
        #expect(later.fields["webhook-id"] == message.fields["webhook-id"])
    }
}
