import GoogleEmulator
import TestSupport
import Testing

/// Kills the process at each step of the delivery of an event about an ended token to Google.
@Suite(.serialized) struct OAuthDeliveryCrashTests {
    enum Moment: CaseIterable {
        /// Google has not accepted the event, which is delivered again later.
        case queued
        /// Google has the request, and has not responded.
        case posted
        /// Google has accepted the event, and the service has not recorded it.
        case taken
    }

    struct Case: CustomTestStringConvertible {
        let store: ObservedDatabase.Store
        let moment: Moment

        static let all = ObservedDatabase.Store.allCases.flatMap { store in
            Moment.allCases.map { Case(store: store, moment: $0) }
        }

        var testDescription: String { "\(store), \(moment)" }
    }

    @Test(arguments: Case.all)
    func `Google is told of a token that ended before the crash, under one jti`(place: Case) async throws {
        try await LinkedSystem.with(place.store) { system in
            // The fake Google finds the keys at the replica 0. On PostgreSQL that one takes over.
            let victim = place.store == .postgres ? 1 : 0
            let replicas = try await ReplicaSet(system, count: victim + 1)
            let service = try #require(replicas.all.first { $0.port == system.ports[victim] })
            let token = try system.identityToken(of: try system.makeUser())
            let code = try await service.flip(.token(token))
            let link = try OAuthReplica.link(of: try await service.redeem(code))
            let account = try #require(try await service.introspect(link.accessToken)["sub"])
            try await Self.hold(place.moment, system)

            let grant = try #require(try await service.grants(of: account).first)
            #expect(try await service.unlink(grant, of: account).status == 204)
            try await Self.waitUntilHeld(place.moment, system)
            await replicas.kill(victim)
            try await Self.release(place.moment, system)

            try await system.makeDeliveriesDue()
            if place.store == .sqlite { try await replicas.start(victim) }
            // A refused code wakes the worker, which else looks every ten seconds.
            let refused = try await #require(replicas.all.first).redeem(code)
            #expect(refused.error == "invalid_grant")
            let expected = place.moment == .taken ? 2 : 1
            try await eventually { system.google.receivedEvents.first?.deliveries ?? 0 >= expected }
            #expect(
                system.google.receivedEvents.map(\.tokenHash) == [OAuthCrashTests.hash(link.refreshToken)])
            try await eventually { try await system.database.rowCounts()["security_event_delivery"] == 0 }
            #expect(await replicas.stop().allSatisfy { $0 == 0 })
        }
    }

    private static func hold(_ moment: Moment, _ system: LinkedSystem) async throws {
        var fault = GoogleFault()
        switch moment {
        case .queued: fault.status = 503
        case .posted: (fault.delayMilliseconds, fault.status) = (GoogleFault.maximumDelay, 503)
        case .taken: return try await system.database.refuseDeletes(from: "security_event_delivery")
        }
        system.google.setFault(fault, at: .report)
    }

    private static func waitUntilHeld(_ moment: Moment, _ system: LinkedSystem) async throws {
        switch moment {
        case .queued:
            try await eventually { system.google.exchanges.contains { $0.response.hasPrefix("503") } }
        case .posted:
            try await eventually {
                try await system.database.query("SELECT attempts FROM security_event_delivery") == "1"
            }
        case .taken: try await eventually { !system.google.receivedEvents.isEmpty }
        }
    }

    private static func release(_ moment: Moment, _ system: LinkedSystem) async throws {
        system.google.setFault(nil, at: .report)
        if moment == .taken {
            try await system.database.allowDeletes(from: "security_event_delivery")
        }
    }
}

extension LinkedSystem {
    /// Makes all deliveries due, as if the time of every claim and pause had passed.
    func makeDeliveriesDue() async throws {
        try await database.query("UPDATE security_event_delivery SET next_attempt_at = 0")
    }
}
