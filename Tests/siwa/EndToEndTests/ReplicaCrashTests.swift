import Foundation
import PostgresCluster
import TestSupport
import Testing

/// A change that any replica has acknowledged is valid at all replicas, also when other replicas or the
/// database crash.
@Suite(.serialized) struct ReplicaCrashTests {
    static let lanes = 9
    static let steps = 10

    @Test(.timeLimit(.hung))
    func `nothing acknowledged is lost while replicas are killed and PostgreSQL is restarted`() async throws {
        let cluster = try await PostgresCluster.start(fsync: true)
        do {
            try await run(on: cluster)
        } catch {
            try? await cluster.remove()
            throw error
        }
        try await cluster.remove()
    }

    private func run(on cluster: PostgresCluster) async throws {
        try await Replicas.with(database: try await cluster.makeDatabase()) { fleet in
            let ledger = Shared(FleetLedger())
            let readers = (0..<fleet.count).map { FleetFeedReader(fleet, startingAt: $0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<Self.lanes {
                    group.addTask { await FleetLoad(fleet, ledger, lane: lane).run() }
                }
                for reader in readers { group.addTask { await reader.run(ledger) } }
                try await disturb(fleet, cluster, ledger)
                // A slow machine has made few of one kind until here.
                try await eventually {
                    let counts = ledger.counts
                    return counts.newUsers > 60 && counts.returns > 20 && counts.revocations > 10
                        && counts.erasures > 3 && counts.queries > 30 && counts.refusedNonces > 10
                }
                ledger.close()
                try await group.waitForAll()
            }
            #expect(ledger.contradictions == [])
            try await ledger.check(in: fleet)
            try await ledger.checkFeed(readers)
            #expect(await fleet.stop())
        }
    }

    /// Kills a replica every two seconds, and restarts the database twice.
    private func disturb(_ fleet: Replicas, _ cluster: PostgresCluster, _ ledger: Shared<FleetLedger>)
        async throws
    {
        for step in 0..<Self.steps {
            let before = ledger.counts.acknowledged
            try await Task.sleep(for: .seconds(2))
            // The next crash waits until all replicas work again.
            try await eventually { ledger.counts.acknowledged > before + 10 + step }
            switch step {
            case 3: try await restart(cluster, .fast, fleet)
            case 7: try await restart(cluster, .immediate, fleet)
            default:
                await fleet.kill(step % fleet.count)
                try await fleet.start(step % fleet.count)
            }
        }
    }

    /// Restarts the database, and checks that each replica recovers by itself within five seconds, or 20 on a busy machine.
    private func restart(
        _ cluster: PostgresCluster, _ mode: PostgresCluster.StopMode, _ fleet: Replicas
    ) async throws {
        try await cluster.restart(mode)
        let back = ContinuousClock.now
        for number in 0..<fleet.count {
            let token = try Minted.token("back.\(number)")
            try await eventually {
                guard let response = try? await fleet[number]?.backend.signIn(token) else { return false }
                return response.status == 201 || response.status == 200
            }
        }
        #expect(ContinuousClock.now - back < .seconds(20))
        for number in 0..<fleet.count {
            try await eventually { try await fleet[number]?.backend.get("/readyz").status == 200 }
        }
    }
}

/// Streaming replication with a synchronous standby that takes over, and replicas of the service that have
/// both servers in their `DATABASE_URL`.
@Suite(.serialized) struct StandbyFailoverTests {
    private static let lanes = 6

    @Test(.timeLimit(.hung))
    func `nothing acknowledged is lost when the primary is killed and its standby is promoted`() async throws
    {
        let primary = try await PostgresCluster.start(fsync: true)
        let url = try await primary.makeDatabase()
        let standby = try await primary.makeStandby(name: "second")
        try await primary.commitAtStandbys("second")
        let name = try #require(url.split(separator: "/").last)
        let database = PostgresCluster.url(of: String(name), on: [primary, standby])
        try await Replicas.with(2, database: database) { fleet in
            _ = try await survive(in: fleet, within: .seconds(10)) {
                try primary.kill()
                // The clients go on meanwhile, and get 503.
                try await Task.sleep(for: .milliseconds(500))
                try await standby.promote()
            }
        }
        try await standby.remove()
        primary.discard()
    }

    /// Three servers, of which one is killed together with its Patroni. Another one takes over by itself.
    @Test(.timeLimit(.hung))
    func `nothing acknowledged is lost when Patroni replaces a primary that was killed`() async throws {
        let example = try ProjectFolder.text("docs/deploy/patroni.yml")
        let cluster = try await PatroniCluster.start(example: example)
        let database = try await cluster.makeDatabase()
        try await Replicas.with(2, database: database) { fleet in
            // The page gives ttl + loop_wait, here 25 s, and a few more for the promotion.
            let outage = try await survive(in: fleet, within: .seconds(40)) {
                try await cluster.killPrimary()
            }
            print("Patroni: states again \(outage) after the primary was killed")
        }
        cluster.remove()
    }

    /// Runs clients while `failover` happens, and checks what they were told.
    ///
    /// - Parameter bound: Longest time until every replica returns states after `failover`.
    /// - Returns: This time.
    private func survive(
        in fleet: Replicas, within bound: Duration, _ failover: () async throws -> Void
    ) async throws -> Duration {
        let ledger = Shared(FleetLedger())
        let readers = (0..<fleet.count).map { FleetFeedReader(fleet, startingAt: $0) }
        let outage = try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes { group.addTask { await FleetLoad(fleet, ledger, lane: lane).run() } }
            for reader in readers { group.addTask { await reader.run(ledger) } }
            defer { ledger.close() }
            try await eventually { ledger.counts.acknowledged > 150 }
            let known = try #require(ledger.users.values.first { !$0.isUncertain })
            try await failover()
            let start = ContinuousClock.now
            for number in 0..<fleet.count {
                try await eventually {
                    (try? await fleet[number]?.backend.credential(known.subject))?.status == 200
                }
            }
            let outage = ContinuousClock.now - start
            #expect(outage < bound)
            let before = ledger.counts.acknowledged
            try await eventually {
                let counts = ledger.counts
                return counts.acknowledged > before + 100 && counts.newUsers > 60 && counts.returns > 20
                    && counts.revocations > 10
            }
            ledger.close()
            try await group.waitForAll()
            return outage
        }
        #expect(ledger.contradictions == [])
        try await ledger.check(in: fleet)
        try await ledger.checkFeed(readers)
        #expect(await fleet.stop())
        return outage
    }

    @Test(.timeLimit(.hung))
    func `commits that waited for a lost standby leave no session on the server, also without further calls`()
        async throws
    {
        let primary = try await PostgresCluster.start(fsync: false)
        let url = try await primary.makeDatabase()
        try await Replicas.with(1, database: url) { fleet in
            let backend = try #require(fleet[0]).backend
            try await primary.setSynchronousStandbys("lost")
            try await eventually {
                try await primary.superuserQuery("SHOW synchronous_standby_names") == "lost"
            }
            // As many as the pool has connections.
            let responses = try await withThrowingTaskGroup(of: UInt.self) { group in
                for number in 0..<8 {
                    let token = try Minted.token("waiting.\(number)")
                    group.addTask { try await backend.signIn(token).status }
                }
                return try await group.reduce(into: [UInt]()) { $0.append($1) }
            }
            #expect(responses.allSatisfy { $0 == 503 })
            // Nobody calls now.
            let waiting =
                "SELECT count(*) FROM pg_stat_activity WHERE usename = 'siwa' AND wait_event = 'SyncRep'"
            try await eventually { try await primary.superuserQuery(waiting) == "0" }
            #expect(try await backend.get("/readyz").status == 503)
            try await primary.setSynchronousStandbys("")
            try await eventually { try await backend.get("/readyz").status == 200 }
            // Stored already, or not: a caller of 503 asks again.
            #expect(try await backend.signIn(try Minted.token("waiting.0")).status < 300)
            #expect(await fleet.stop())
        }
        try await primary.remove()
    }
}
