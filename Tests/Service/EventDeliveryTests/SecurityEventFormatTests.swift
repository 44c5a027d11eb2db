import AppleAccounts
import JOSE
import SecurityEvents
import StorageConformance
import StrictJSON
import Testing

@testable import EventDelivery

@Suite struct SecurityEventFormatTests {
    private static let issuer = "https://signin.example.com"

    @Test func `a message is a token about the event, for the receiver's audience`() async throws {
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let format = SecurityEventFormat(issuer: Self.issuer, audience: "billing") { key }
        let store = ReferenceStore()
        try await store.signIn(.sample())
        let verifier = SecurityEventVerifier(issuer: Self.issuer, audiences: ["billing"])
        for event in try await store.allEvents() {
            let message = try #require(try await format.message(for: event, at: 1_800_000_000_999))
            #expect(message.fields["content-type"] == "application/secevent+jwt")
            let claims = try verifier.verify(message.text, at: 1_800_000_000) { _ in key.verificationKey }
            #expect(claims.id == event.id.rawValue)
            #expect(claims.issuedAt == 1_800_000_000)
            #expect(claims.events.members.map(\.name) == [event.kind.securityEventType.uri])
        }
    }

    @Test func `an event that no token can name a subject for is passed over`() async throws {
        let world = try await DeliveryWorld()
        let format = SecurityEventFormat(issuer: Self.issuer, audience: "billing") {
            throw JOSEError(.keyUnusable, detail: "no key is needed")
        }
        let event = AccountEvent(
            id: EventID(UniqueID(high: 1, low: 1)), kind: .credentialRevoked, team: "A1B2C3D4E5",
            subject: nil,
            moment: world.now, recordedAt: world.now)
        #expect(try await format.message(for: event, at: world.now) == nil)
    }
}
