import NIOCore
import Synchronization
import TestSupport
import Testing

/// Deliveries survive every crash of the process.
@Suite(.serialized) struct DeliveryCrashTests {
    static let kills = 20
    static let writers = 4
    /// Users of a writer between two kills.
    static let users = 6

    @Test(.timeLimit(.hung), arguments: ObservedDatabase.Store.allCases)
    func `every event reaches every receiver, in the order of its account, through 20 kills`(
        store: ObservedDatabase.Store
    ) async throws {
        try await DeliverySystem.with(store, ["backend", DeliverySystem.tokens, "flaky"], polls: true) {
            system in
            try system["backend"].follow { _ in .take(after: .milliseconds(2)) }
            try system["flaky"].follow { $0 % 4 == 0 ? .refuse : .take(after: .zero) }
            let current = Mutex<ServiceProcess?>(nil)
            let polling = PollingReceiver { current.withLock { $0 }.map { DeliverySystem.backend($0) } }
            let polls = Task { await polling.run(loops: 3) }
            for round in 0..<Self.kills {
                let service = try await system.serve()
                current.withLock { $0 = service }
                let load = DeliveryLoad("round\(round)") { DeliverySystem.backend(service) }
                let running = Task { await load.run(writers: Self.writers, users: Self.users) }
                // The kill comes at a different point in each round, after some events that are new.
                let server = try system[round % 2 == 0 ? "backend" : DeliverySystem.tokens]
                let enough = server.taken.count + 1 + round * 3
                try await eventually { server.taken.count >= enough }
                await service.kill()
                current.withLock { $0 = nil }
                load.close()
                await running.value
                try await system.endClaims()
            }
            try system["flaky"].follow { _ in .take(after: .zero) }
            let service = try await system.serve()
            current.withLock { $0 = service }
            let feed = try await DeliveredFeed.read(DeliverySystem.backend(service))
            #expect(feed.events.count > Self.kills * 10)
            for (name, server) in system.receivers {
                try? await eventually(within: .seconds(30)) { server.taken.count >= feed.ids.count }
                #expect(feed.missing(at: server) == [], "\(name)")
                #expect(server.taken.subtracting(feed.ids) == [], "\(name)")
                #expect(feed.overtaking(at: server) == [], "\(name)")
                print("\(store), \(name): \(feed.events.count) events, \(server.takenCount) deliveries")
            }
            try? await eventually(within: .seconds(30)) {
                try await system.endPolls()
                return polling.taken.count >= feed.ids.count
            }
            #expect(feed.ids.subtracting(polling.taken) == [])
            #expect(polling.overtaking(in: feed) == [])
            // What the last polls got is acknowledged.
            try await eventually {
                try await system.endPolls()
                let rows = try await system.database.query(
                    "SELECT count(*) FROM event_retry WHERE receiver = '\(PollingReceiver.name)'")
                return rows == "0"
            }
            polling.close()
            await polls.value
            print("\(store), polled: \(feed.events.count) events in \(polling.polls) polls")
            #expect(await service.stop() == 0)
            let list = try await system.run(["deliveries", "list"])
            #expect(
                list.output
                    == "backend: up to date\nflaky: up to date\npolled: up to date\ntokens: up to date\n")
        }
    }
}
