import AppleAccounts
import AuthorizationServer
import StorageConformance
import Testing

@testable import PostgresStorage

/// Thousands of users whose tokens and codes are used at one replica, while another replica ends them.
@Suite struct GrantStormTests {
    private static let rounds = 1500
    private static let workers = 6

    /// Result of a round.
    private struct Round: Sendable {
        let end: GrantEnd
        /// Results of refresh and redemption: true if the use came before the end.
        var cameFirst: [Bool] = []
        var faults: [String] = []
    }

    @Test func `leaves no good token of 1,500 users whose grants end at another replica`() async throws {
        try await Replicas.with { replicas in
            let rounds = try await replicas.play(Self.rounds, workers: Self.workers) {
                try await Self.play($0, in: replicas)
            }
            #expect(rounds.flatMap(\.faults) == [])
            for end in GrantEnd.allCases where !end.isTransfer {
                let orders = rounds.filter { $0.end == end }.flatMap(\.cameFirst)
                #expect(orders.contains(true) && orders.contains(false), "\(end): only one order was met")
            }
        }
    }

    private static func play(_ number: Int, in replicas: Replicas) async throws -> Round {
        let end = GrantEnd.allCases[number % GrantEnd.allCases.count]
        let key = SubjectKey.sample("user-\(number)")
        let flip = Int.random(in: 0...1)
        let (here, there) = (replicas.stores[flip], replicas.stores[1 - flip])
        let family = UInt64(number) * 10 + 1
        let begin = Moment(milliseconds: 1_000_000 + Int64(number) * 1000)
        let (grant, account) = try await here.linkWithCode(family, key: key, at: begin)
        let moment = begin.advanced(byMilliseconds: 50)

        async let ended: Void = {
            for _ in 0..<Int.random(in: 0...60) { await Task.yield() }
            try await end.carryOut(grant, of: account, at: there)
        }()
        async let uses = withThrowingTaskGroup(of: GrantRefusal.Code?.self) { group in
            for (use, store) in zip(GrantUse.allCases, [here, there].shuffled()) {
                group.addTask { try await use.carryOut(family, at: moment, of: store) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // A user who agrees once more: what comes after an unlinking is a new grant.
        async let agreed: Bool = {
            guard end != .unlinked else { return false }
            let command = AuthorizeCommand.sample(
                family + 2, account: account.id, authenticatedAt: begin, at: begin)
            return (try? await here.authorize(command)) != nil
        }()
        let refusals = try await uses
        _ = try await (ended, agreed)

        var round = Round(end: end, cameFirst: refusals.map { $0 == nil })
        let isRefused = refusals.contains { $0 != nil }
        if end.isTransfer, isRefused { round.faults.append("\(number): \(refusals) at a transfer") }
        for store in replicas.stores {
            for family in [family, family + 1]
            where try await store.isGood(family, at: moment) != end.isTransfer {
                round.faults.append("\(number): the tokens of a user who was \(end)")
            }
            if try await store.grants(of: account.id).isEmpty == end.keepsGrants {
                round.faults.append("\(number): the grants of a user who was \(end)")
            }
        }
        guard !end.isTransfer, end != .unlinked else { return round }
        // Nor does an agreement from before the end give any now.
        let late = try? await there.redeem(.sample(family + 2, at: moment))
        if late != nil { round.faults.append("\(number): a code of a user who was \(end)") }
        return round
    }
}
