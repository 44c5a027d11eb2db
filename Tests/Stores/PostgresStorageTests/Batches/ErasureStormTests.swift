import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

/// Thousands of users who sign in and are erased at one replica, while another replica receives their old
/// tokens.
@Suite struct ErasureStormTests {
    private static let rounds = 5000
    private static let workers = 8

    @Test func `brings none of 5,000 erased users back by an old token at another replica`() async throws {
        try await Replicas.with { replicas in
            let back = try await withThrowingTaskGroup(of: [Int].self) { group in
                for worker in 0..<Self.workers {
                    group.addTask {
                        var back: [Int] = []
                        for round in stride(from: worker, to: Self.rounds, by: Self.workers) {
                            if try await Self.isBack(round, in: replicas) { back.append(round) }
                        }
                        return back
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(back == [], "the rounds in which the user was known again")
        }
    }

    private static func isBack(_ round: Int, in replicas: Replicas) async throws -> Bool {
        let key = SubjectKey.sample("user-\(round)")
        let (here, there) = (replicas.stores[round % 2], replicas.stores[1 - round % 2])
        async let erased: Void = {
            let account = try await here.signIn(.sample(key: key, authorizedAt: 2000)).account
            try await here.erase(.sample(UInt64(round), account: account, at: 9000))
        }()
        async let replayed: Void = {
            for attempt in 0..<3 as Range<Int64> {
                let moment = Moment(milliseconds: 1000 + attempt)
                // Apple's late word is as dangerous as an old token: both make a row of one who has none.
                let command: AccountCommand =
                    (round + Int(attempt)) % 4 == 0
                    ? .notification(.sample(key: key, at: moment))
                    : .signIn(.sample(key: key, authorizedAt: moment))
                _ = try await there.commit([command])
            }
        }()
        _ = try await (erased, replayed)
        let credential = try await here.credential(key)
        return try await there.account(key) != nil || credential.reason != .erased
    }
}
