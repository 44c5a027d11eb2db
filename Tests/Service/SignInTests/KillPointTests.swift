import AppleAccounts
import AppleIDClient
import StorageConformance
import Testing
import TokenMint

@testable import SignIn

/// A process loses its power between any two external steps, and another process goes on. The end state is
/// the same for every point.
@Suite struct KillPointTests {
    /// The points of a run: before and after each step.
    private static func points(_ steps: [String]) -> [String] {
        steps.flatMap { ["before \($0)", "after \($0)"] }
    }

    /// Runs a scenario once for every point, and once without a cut.
    ///
    /// - Parameters:
    ///   - expected: The points of the run without a cut, so that a new step is noticed.
    ///   - prepare: Prepares the scenario with a process that is not cut.
    ///   - work: Work of the process whose power fails, and then again of the next process.
    private func cut<Prepared: Sendable>(
        _ storage: World.Storage, expected: [String],
        prepare: (World) async throws -> Prepared,
        work: (World, ServiceRun) async throws -> Void,
        check: (World, Prepared, _ point: String?) async throws -> Void
    ) async throws {
        for cut in 0...expected.count {
            let world = try await World(storage)
            let prepared = try await prepare(world)
            let fuse = Fuse(holds: cut)
            try? await work(world, world.process(fuse: fuse))
            #expect(fuse.crossed == Array(expected.prefix(cut)))
            try await work(world, world.process())
            try await check(world, prepared, cut < expected.count ? expected[cut] : nil)
        }
    }

    @Test(arguments: World.Storage.allCases) func `an exchange`(storage: World.Storage) async throws {
        try await cut(
            storage, expected: Self.points(["claim codes", "exchange", "commit"]),
            prepare: { world in try await world.process().signIn() },
            work: { world, process in
                await process.exchangeDue()
                world.pass(.milliseconds(CodeExchange.lease))
            },
            check: { world, _, point in
                // Cut between Apple's response and the commit, the token is lost, and that is said.
                let isLost = point == "after exchange" || point == "before commit"
                let credential = try await world.credential()
                let due = try await world.store.nextDue()
                #expect(
                    credential.refreshToken == (isLost ? .unavailable(.exchangeUncertain) : .held),
                    "cut \(point ?? "nowhere")")
                #expect(credential.state == .authorized)
                #expect(due.code == nil)
                #expect(world.apple.granted.count == 1)
            })
    }

    @Test(arguments: World.Storage.allCases) func `a check`(storage: World.Storage) async throws {
        try await cut(
            storage, expected: Self.points(["claim checks", "validate", "commit"]),
            prepare: { world in
                let process = try world.process()
                try await process.signIn()
                await process.exchangeDue()
                world.apple.forgetTokens()
                world.pass(.seconds(86_400 + 3600))
            },
            work: { world, process in
                await process.checkDue()
                world.pass(.seconds(86_400 + 3600))
            },
            check: { world, _, point in
                let credential = try await world.credential()
                #expect(credential.state == .revoked, "cut \(point ?? "nowhere")")
                #expect(credential.reason == .refreshTokenRejected)
                #expect(credential.refreshToken == .unavailable(.rejected))
                let asked = world.apple.questions(.validate)
                for (earlier, later) in zip(asked, asked.dropFirst()) {
                    #expect(later.second - earlier.second >= 86_400)
                }
                let kinds = try await world.store.allEvents().map(\.kind)
                #expect(kinds.count { $0 == .credentialRevoked } == 1)
            })
    }

    @Test(arguments: World.Storage.allCases)
    func `an erasure of a token`(storage: World.Storage) async throws {
        let steps = ["commit", "claim tokens", "revoke", "save token", "validate", "save token"]
        try await cut(
            storage, expected: Self.points(steps),
            prepare: { world in
                let process = try world.process()
                let outcome = try await process.signIn()
                await process.exchangeDue()
                world.pass(.seconds(1))
                return outcome.account.id
            },
            work: { world, process in try await eraseAll(world, process) },
            check: { world, id, point in
                let record = try #require(try await world.store.erasure(of: id))
                #expect(record.finishedAt != nil, "cut \(point ?? "nowhere")")
                #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
                #expect(world.apple.good.isEmpty)
                #expect(try await world.store.sealedCount() == 0)
                #expect(try await world.store.nextDue() == AppleTokensDue())
                #expect(try await world.store.account(id) == nil)
                let kinds = try await world.store.allEvents().map(\.kind)
                #expect(kinds.count { $0 == .accountErased } == 1)
            })
    }

    @Test(arguments: World.Storage.allCases)
    func `an erasure of a code`(storage: World.Storage) async throws {
        let steps = [
            "commit", "claim tokens", "exchange", "save token", "revoke", "save token", "validate",
            "save token",
        ]
        try await cut(
            storage, expected: Self.points(steps),
            prepare: { world in
                let outcome = try await world.process().signIn()
                world.pass(.seconds(1))
                return outcome.account.id
            },
            work: { world, process in try await eraseAll(world, process) },
            check: { world, id, point in
                let record = try #require(try await world.store.erasure(of: id))
                #expect(record.finishedAt != nil, "cut \(point ?? "nowhere")")
                let isLost = point == "after exchange" || point == "before save token" && record.isLost
                let expected: ErasureOutcome = isLost ? .notRevoked : .provenRevoked
                #expect(record.tokens.map(\.step) == [.done(expected)], "cut \(point ?? "nowhere")")
                #expect(record.tokens.map(\.cause) == [isLost ? "exchange_uncertain" : nil])
                #expect(world.apple.granted.count == 1)
                #expect(world.apple.good.isEmpty || isLost)
                #expect(try await world.store.sealedCount() == 0)
                #expect(try await world.store.nextDue() == AppleTokensDue())
            })
    }

    private func eraseAll(_ world: World, _ process: ServiceRun) async throws {
        let account = AppleSubject(TokenMint.subject).map { SubjectKey(team: "A1B2C3D4E5", subject: $0) }
        if let key = account, let account = try await world.store.account(key) {
            _ = try await process.useCases.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        }
        await process.eraseDue()
        world.pass(.milliseconds(ErasureWorker.lease))
    }
}

extension ErasureRecord {
    /// True if the cut came between Apple's response and the first stored step.
    fileprivate var isLost: Bool { tokens.contains { $0.kind == .authorizationCode } }
}
