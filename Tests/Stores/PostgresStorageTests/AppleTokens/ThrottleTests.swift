import AppleAccounts
import PostgresStorage
import StorageConformance
import TestSupport
import Testing

/// Checks that Apple is asked about a token at most once a day. A request with an unknown outcome counts.
@Suite struct ThrottleTests {
    static let day: Int64 = 86_400_000

    @Test func `gives out no check twice in a day, with three replicas whose connections break`() async throws
    {
        try await Replicas.with(3) { replicas in
            for number in 1...20 as ClosedRange<UInt64> {
                try await replicas.stores[0].hold(number, key: .sample("p\(number)"), nextCheckAt: 1000)
            }
            var claims: [UniqueID: [Int64]] = [:]
            var random = SeededGenerator(seed: 7)
            var now: Int64 = 1000
            for round in 0..<90 {
                now += Int64.random(in: 60_000...7_200_000, using: &random)
                let claimed = await claim(
                    in: replicas, at: Moment(milliseconds: now), cutting: round % 3 == 0)
                for id in claimed { claims[id, default: []].append(now) }
            }
            #expect(claims.count == 20)
            for moments in claims.values {
                #expect(moments.count > 1)
                for (earlier, later) in zip(moments, moments.dropFirst()) {
                    #expect(later - earlier >= Self.day)
                }
            }
        }
    }

    /// Claims with two tasks on each replica at the same time, optionally while all connections break.
    private func claim(in replicas: Replicas, at moment: Moment, cutting isCut: Bool) async -> [UniqueID] {
        await withTaskGroup(of: [UniqueID].self) { group in
            for store in replicas.stores + replicas.stores {
                group.addTask {
                    let checks = try? await store.claimChecks(
                        limit: 4, at: moment, nextAfter: moment.advanced(byMilliseconds: Self.day),
                        jitterMilliseconds: 3_600_000)
                    return checks?.map(\.tokenID) ?? []
                }
            }
            if isCut {
                group.addTask {
                    try? await replicas.cutConnections()
                    return []
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}
