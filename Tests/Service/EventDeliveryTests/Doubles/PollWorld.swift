import AppleAccounts
import Commits
import JOSE
import SecurityEvents
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import EventDelivery

/// A store, a stopped clock, and polls of one receiver.
struct PollWorld {
    static let issuer = "https://signin.example.com"

    let store = ReferenceStore()
    let feed = EventFeed()
    let clock = ManualClock(millisecondsSince1970: DeliveryWorld.start)
    let polling: EventPolling
    let receiver: PolledReceiver
    let key: TokenSigningKey

    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    /// - Parameter client: Makes the receiver the stream of this OAuth client.
    init(
        client: OAuthClientID? = nil, kinds: Set<AccountEvent.Kind> = Set(AccountEvent.Kind.allCases),
        scope: AppScope = .all
    ) async throws {
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        self.key = key
        let name = client.map { ReceiverName(of: $0) } ?? "backend"
        let format: any EventFormat
        if let client {
            format = ClientEventFormat(issuer: Self.issuer, client: client, store: store) { key }
        } else {
            format = SecurityEventFormat(issuer: Self.issuer, audience: "billing") { key }
        }
        receiver = PolledReceiver(name: name, kinds: kinds, scope: scope, format: format)
        polling = EventPolling(
            store: store, feed: feed, clock: clock,
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
        try await store.addReceivers([name], at: now)
    }

    func signIn(_ user: Int, name: String? = nil) async throws {
        try await store.signIn(
            .sample(
                key: DeliveryWorld.key(user), authorizedAt: now, firstName: name, receivedAt: now))
        feed.advance(to: try await store.lastEventSequence())
    }

    /// Polls without a wait.
    func poll(
        most: Int = PollRequest.mostTokens, taken: [EventID] = [], refused: [EventID] = []
    ) async throws -> PollResponse {
        try await polling.poll(
            receiver,
            PollRequest(mostTokens: most, isImmediate: true, taken: Set(taken), refused: Set(refused)))
    }

    func feedIDs() async throws -> [EventID] { try await store.allEvents().map(\.id) }

    func stored() async throws -> ClaimedReceiver {
        try #require(try await store.receiver(receiver.name))
    }

    func claims(_ token: PollResponse.Token, audience: String = "billing") throws -> JSONObject {
        let jws = try TypedJWS(parsing: Array(token.text.utf8))
        #expect(jws.isSigned(by: key.verificationKey))
        let claims = try #require(try JSONValue(parsing: jws.payload).object)
        #expect(claims["aud"]?.string == audience)
        #expect(claims["jti"]?.string == token.id.rawValue)
        return claims
    }
}

extension PollResponse {
    var ids: [EventID] { tokens.map(\.id) }
}
