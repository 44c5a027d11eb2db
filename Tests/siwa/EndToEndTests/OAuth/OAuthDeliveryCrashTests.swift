import EmulatorServer
import Foundation
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
            // A new user wakes the worker, which else looks every ten seconds.
            let other = try system.identityToken(of: try system.makeUser())
            _ = try await #require(replicas.all.first).flip(.token(other))
            let expected = place.moment == .taken ? 2 : 1
            try await eventually { system.google.receivedEvents.first?.deliveries ?? 0 >= expected }
            #expect(
                system.google.receivedEvents.map(\.tokenHash) == [OAuthCrashTests.hash(link.refreshToken)])
            try await eventually { try await system.isGoogleUpToDate() }
            #expect(await replicas.stop().allSatisfy { $0 == 0 })
        }
    }

    private static func hold(_ moment: Moment, _ system: LinkedSystem) async throws {
        var fault = GoogleFault()
        switch moment {
        case .queued: fault.status = 503
        case .posted: (fault.delayMilliseconds, fault.status) = (GoogleFault.maximumDelay, 503)
        // A claim does not write this column.
        case .taken: return try await system.database.refuseUpdates(of: "cursor", in: "event_receiver")
        }
        system.google.setFault(fault, at: .report)
    }

    private static func waitUntilHeld(_ moment: Moment, _ system: LinkedSystem) async throws {
        switch moment {
        case .queued:
            try await eventually { system.google.exchanges.contains { $0.response.hasPrefix("503") } }
        case .posted:
            try await eventually {
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                return try await system.database.query(
                    "SELECT count(*) FROM event_receiver WHERE name = 'google' AND not_before > \(now)")
                    == "1"
            }
        case .taken: try await eventually { !system.google.receivedEvents.isEmpty }
        }
    }

    private static func release(_ moment: Moment, _ system: LinkedSystem) async throws {
        system.google.setFault(nil, at: .report)
        if moment == .taken {
            // A process that lives on records nothing of what it has sent.
            try await system.database.query("UPDATE event_receiver SET claims = claims + 1")
            try await system.database.allowUpdates(in: "event_receiver")
        }
    }
}

extension LinkedSystem {
    /// Makes all deliveries due, as if the time of every claim and pause had passed.
    func makeDeliveriesDue() async throws {
        try await database.query(
            "UPDATE event_retry SET due_at = 0; UPDATE event_receiver SET not_before = 0")
    }

    /// Returns `true` when nothing waits for Google.
    func isGoogleUpToDate() async throws -> Bool {
        try await database.query(
            """
            SELECT count(*) FROM event_receiver WHERE name = 'google'
                AND cursor = (SELECT max(sequence) FROM event)
                AND NOT EXISTS (SELECT 1 FROM event_retry WHERE receiver = 'google')
            """) == "1"
    }
}
