import PostgresCluster
import StrictJSON
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
        try await Fleet.with(database: try await cluster.makeDatabase()) { fleet in
            let ledger = FleetLedger()
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
            for number in 0..<fleet.count { #expect(await fleet.stop(number) == 0) }
        }
    }

    /// Kills a replica every two seconds, and restarts the database twice.
    private func disturb(_ fleet: Fleet, _ cluster: PostgresCluster, _ ledger: FleetLedger) async throws {
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
        _ cluster: PostgresCluster, _ mode: PostgresCluster.StopMode, _ fleet: Fleet
    ) async throws {
        try await cluster.restart(mode)
        let back = ContinuousClock.now
        for number in 0..<fleet.count {
            let token = try FleetLoad.token("back.\(number)")
            try await eventually {
                guard let response = try? await fleet.backend(number)?.signIn(token) else { return false }
                return response.status == 201 || response.status == 200
            }
        }
        #expect(ContinuousClock.now - back < .seconds(20))
        for number in 0..<fleet.count {
            try await eventually { try await fleet.backend(number)?.get("/readyz").status == 200 }
        }
    }
}
