import AppleAccounts
import AuthorizationServer
import Commits
import EventDelivery
import Foundation
import JOSE
import Logging
import OAuthSamples
import StorageConformance
import TestSupport

/// A service with the receiver `billing` for the API key `backend`, and streams of the clients `shop`, which
/// polls, and `desktop`, which is pushed to.
enum EventSample {
    static let key = Result {
        try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
    }

    static func options(store: ReferenceStore = ReferenceStore()) -> RunningService.Options {
        var options = RunningService.Options()
        options.hasOAuth = true
        options.store = store
        options.tokenClients = { draft in
            draft.clients[0].events = "poll"
            draft.clients[1].events = "push"
            draft.clients[1].eventsURL = "https://desktop.example.com/events"
        }
        options.events = { store, feed, now in try streams(store, feed, now) }
        return options
    }

    static func streams(
        _ store: ReferenceStore, _ feed: EventFeed, _ now: @escaping @Sendable () -> Moment,
        signing: @escaping @Sendable () async throws -> TokenSigningKey = { try key.get() }
    ) throws -> EventStreams {
        let billing = PolledReceiver(
            name: "billing", kinds: Set(AccountEvent.Kind.allCases), scope: .all,
            format: SecurityEventFormat(issuer: OAuthSample.issuer, audience: "billing", key: signing))
        let shop = ReceiverName(of: "shop")
        let kinds = Set(ClientEvents.kinds)
        let polled = PolledReceiver(
            name: shop, kinds: kinds, scope: .all,
            format: ClientEventFormat(
                issuer: OAuthSample.issuer, client: "shop", store: store, key: signing))
        return EventStreams(
            polling: EventPolling(store: store, feed: feed, now: now, logger: .silent),
            keyed: [.init(billing, keyName: "backend")],
            clients: [
                "shop": .init(name: shop, kinds: kinds, delivery: .poll(polled)),
                "desktop": .init(
                    name: ReceiverName(of: "desktop"), kinds: kinds,
                    delivery: .push(url: "https://desktop.example.com/events")),
            ], store: store, now: now)
    }

    static let names: [ReceiverName] = ["billing", "client:shop", "client:desktop"]

    static func with(
        _ change: (inout RunningService.Options) -> Void = { _ in },
        _ body: @Sendable (RunningService, ReferenceStore) async throws -> Void
    ) async throws {
        let store = ReferenceStore()
        try await store.addReceivers(names, at: 0)
        var options = options(store: store)
        change(&options)
        try await RunningService.with(options) { try await body($0, store) }
    }

    static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
    }

    static let shop = basic("shop", OAuthSample.shopSecret)
}
