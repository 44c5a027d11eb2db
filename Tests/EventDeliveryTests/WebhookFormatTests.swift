import AppleAccounts
import Cryptography
import Encodings
import SecurityEvents
import StorageConformance
import StrictJSON
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
