import AppleAccounts
import Commits
import Cryptography
import Encodings
import Logging
import SignIn
import StorageConformance
import TestSupport
import Testing

@testable import EventDelivery

/// A store, a stopped clock, and the worker that delivers to some receivers.
struct DeliveryWorld {
    static let start: Int64 = 1_800_000_000_000

    let store = ReferenceStore()
    let feed = EventFeed()
    let clock = ManualClock(millisecondsSince1970: Self.start)
    let destinations: [ReceiverName: ScriptedDestination]
    let worker: EventDelivering

    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    /// - Parameters:
    ///   - receivers: Names of receivers that want every event.
    ///   - makingMessage: Runs while a message is made.
    init(
        _ receivers: [ReceiverName] = ["backend"], kinds: Set<AccountEvent.Kind>? = nil,
        scope: AppScope = .all,
        makingMessage: @escaping @Sendable (ReferenceStore, ManualClock) async throws -> Void = { _, _ in }
    ) async throws {
        let destinations = Dictionary(uniqueKeysWithValues: receivers.map { ($0, ScriptedDestination()) })
        self.destinations = destinations
        let secret = try #require(
            WebhookSecret(WebhookSecret.prefix + Base64.encode(Array(repeating: 7, count: 32))))
        let work: @Sendable () async throws -> Void = { [store, clock] in
            try await makingMessage(store, clock)
        }
        worker = EventDelivering(
            receivers: receivers.compactMap { name in
                destinations[name].map {
                    EventReceiver(
                        name: name, kinds: kinds ?? Set(AccountEvent.Kind.allCases), scope: scope,
                        format: SlowFormat(base: WebhookFormat(secrets: [secret]), work: work),
                        destination: $0)
                }
            }, store: store, feed: feed, linger: .zero, clock: clock,
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
        try await store.addReceivers(receivers, at: now)
    }

    var destination: ScriptedDestination {
        get throws { try #require(destinations["backend"]) }
    }

    func signIn(_ user: Int, clientID: ClientID = "com.example.app", name: String? = nil) async throws {
        try await store.signIn(
            .sample(
                key: Self.key(user), clientID: clientID, authorizedAt: now, firstName: name,
                receivedAt: now))
    }

    static func key(_ user: Int) -> SubjectKey {
        .sample("\(String(repeating: "0", count: 6 - String(user).count))\(user).0123456789abcdef.0123")
    }

    /// Works on every receiver that can be claimed, once.
    func turn(after time: Duration = .milliseconds(200)) async throws {
        clock.advance(by: time)
        for work in try await worker.claim(limit: EventDelivering.traits.width, at: now) {
            _ = await worker.perform(work)
        }
    }

    /// IDs of events in the order of the feed.
    func feedIDs() async throws -> [String] { try await store.allEvents().map(\.id.rawValue) }

    func stored(_ name: ReceiverName = "backend") async throws -> ClaimedReceiver {
        try #require(try await store.receivers().first { $0.record.name == name })
    }
}

/// A format that takes its time.
private struct SlowFormat: EventFormat {
    let base: WebhookFormat
    let work: @Sendable () async throws -> Void

    func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        try await work()
        return base.message(for: event, at: moment)
    }
}
