import AppleAccounts
import Commits
import Logging
import SignIn
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import EventDelivery

/// Replicas that share a database and die in the middle of their work.
@Suite(.timeLimit(.hung)) struct ReplicaDeliveryTests {
    /// A clock that runs 500 times as fast, so that the claims of a dead replica end soon.
    private struct FastTime: Sendable {
        let began = ContinuousClock.now

        func now() -> Moment {
            let passed = (ContinuousClock.now - began).wholeMilliseconds
            return Moment(milliseconds: DeliveryWorld.start + passed * 500)
        }
    }

    @Test(arguments: 1...3)
    func `every event reaches every receiver, in order for each account, while replicas die`(
        seed: UInt64
    ) async throws {
        let store = ReferenceStore(seed: seed)
        let feed = EventFeed()
        let time = FastTime()
        let generator = Mutex(SeededGenerator(seed: seed))
        let names: [ReceiverName] = ["first", "second", "third"]
        let destinations = names.map { _ in
            ScriptedDestination { _ in
                await Task.yield()
                guard generator.withLock({ Int.random(in: 0..<10, using: &$0) > 0 }) else {
                    throw DeliveryError(.refused, status: 503)
                }
            }
        }
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let receivers = zip(names, destinations).map { name, destination in
            EventReceiver(
                name: name, kinds: Set(AccountEvent.Kind.allCases), scope: .all,
                format: WebhookFormat(secrets: [secret]), destination: destination)
        }
        try await store.addReceivers(names, at: time.now())
        @Sendable func replica() -> Task<Void, any Error> {
            let loop = ClaimLoop(
                EventDelivering(
                    receivers: receivers, store: store, feed: feed, linger: .milliseconds(5),
                    now: { time.now() }, logger: .silent))
            return Task { try await loop.run() }
        }
        var replicas = [replica(), replica()]
        for round in 0..<20 {
            for user in 1...8 {
                let moment = time.now()
                try await store.signIn(
                    .sample(
                        key: DeliveryWorld.key(user), authorizedAt: moment, firstName: "Ada \(round)",
                        receivedAt: moment))
                feed.advance(to: try await store.lastEventSequence())
            }
            let dead = replicas.removeFirst()
            dead.cancel()
            replicas.append(replica())
        }
        let events = try await store.allEvents()
        let ids = Set(events.map(\.id.rawValue))
        try await eventually { destinations.allSatisfy { Set($0.taken.map(\.eventID)) == ids } }
        for replica in replicas { replica.cancel() }
        for destination in destinations {
            var places: [String: Int] = [:]
            for (place, message) in destination.taken.enumerated() where places[message.eventID] == nil {
                places[message.eventID] = place
            }
            for (_, own) in Dictionary(grouping: events, by: \.accountID) {
                let order = own.compactMap { places[$0.id.rawValue] }
                #expect(order == order.sorted())
            }
        }
    }
}
