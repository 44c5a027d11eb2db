import AppleAccounts
import AppleIDClient
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import SignIn

@Suite struct DailyCheckTests {
    /// A held token that is due for a check.
    private func held(_ storage: World.Storage = .memory) async throws -> (World, ServiceRun) {
        let (world, process, _) = try await World.holding(storage)
        #expect(try await world.store.nextDue().check ?? 0 >= world.now.advanced(byMilliseconds: 86_400_000))
        world.pass(.seconds(86_400 + 3600))
        return (world, process)
    }

    @Test(arguments: World.Storage.allCases)
    func `asks once a day and changes nothing while the token is good`(storage: World.Storage) async throws {
        let (world, process) = try await held(storage)
        let before = try await world.credential()
        for day in 1...5 {
            for _ in 0..<3 { await process.checkDue() }
            #expect(world.apple.questions(.validate).count == day)
            world.pass(.seconds(43_200))
            await process.checkDue(asked: day)
            world.pass(.seconds(43_200 + 3600))
        }
        #expect(try await world.credential() == before)
    }

    @Test(arguments: World.Storage.allCases)
    func `revokes when Apple refuses the token, and tells it once`(storage: World.Storage) async throws {
        let (world, process) = try await held(storage)
        world.apple.forgetTokens()
        await process.checkDue()
        let credential = try await world.credential()
        #expect(credential.state == .revoked)
        #expect(credential.reason == .refreshTokenRejected)
        #expect(credential.source == .dailyCheck)
        #expect(credential.refreshToken == .unavailable(.rejected))
        #expect(try await world.store.sealedCount() == 0)
        world.pass(.seconds(100_000))
        await process.checkDue(asked: 1)
        let kinds = try await world.store.allEvents().map(\.kind)
        #expect(kinds.count { $0 == .credentialRevoked } == 1)
        // The user can come back.
        world.apple.know(code: "again")
        try await process.signIn(code: "again")
        await process.exchangeDue()
        #expect(try await world.credential().state == .authorized)
        #expect(try await world.status() == .held)
    }

    @Test(
        arguments: [
            .timedOut, .connectionLost, .responseUnusable, .serverFailed, .throttled,
        ] as [AppleCallError.Code])
    func `waits for the next day when Apple may have been asked`(code: AppleCallError.Code) async throws {
        let (world, process) = try await held()
        world.apple.script(.validate, .happened(AppleCallError(code)))
        await process.checkDue()
        for _ in 0..<23 {
            world.pass(.seconds(3600))
            await process.checkDue()
        }
        #expect(world.apple.questions(.validate).count == 1)
        #expect(try await world.credential().state == .authorized)
        world.pass(.seconds(7200))
        await process.checkDue(asked: 2)
        #expect(try await world.status() == .held)
    }

    @Test(arguments: [.unreachable, .circuitOpen] as [AppleCallError.Code])
    func `asks soon again when Apple was not asked, and changes no state`(
        code: AppleCallError.Code
    ) async throws {
        let (world, process) = try await held()
        for _ in 0..<3 { world.apple.script(.validate, .failed(AppleCallError(code))) }
        for expected in 1...3 {
            await process.checkDue()
            await process.checkDue(asked: expected)
            #expect(try await world.credential().state == .authorized)
            world.pass(.seconds(120))
        }
        await process.checkDue(asked: 4)
        #expect(try await world.status() == .held)
        world.pass(.seconds(80_000))
        await process.checkDue(asked: 4)
    }

    /// Each failure moves the next attempt into the future, which must not hide the age of the work.
    @Test(
        arguments: World.Storage.allCases, [.unreachable, .serverFailed, .throttled] as [AppleCallError.Code])
    func `is overdue since its first failed attempt, until one succeeds`(
        storage: World.Storage, code: AppleCallError.Code
    ) async throws {
        let (world, process) = try await held(storage)
        let due = try #require(try await world.store.nextDue().check)
        for _ in 0..<10 { world.apple.script(.validate, .failed(AppleCallError(code))) }
        for asked in 1...10 {
            await process.checkDue(asked: asked)
            for pause in [0, 30] {
                world.pass(.seconds(pause))
                let checks = try await world.store.backlog(at: world.now).checks
                #expect(checks == AppleTokensBacklog.Queue(count: 1, since: due))
            }
            world.pass(.seconds(90_000))
        }
        await process.checkDue()
        #expect(try await world.store.backlog(at: world.now).checks == AppleTokensBacklog.Queue())
    }

    @Test(arguments: [.invalidClient, AppleCallError(.noSigningKey), AppleCallError(.signingFailed)])
    func `revokes no credential when Apple refuses our own key, and goes on when it is put right`(
        error: AppleCallError
    ) async throws {
        let (world, process) = try await held()
        world.apple.script(.validate, .failed(error))
        await process.checkDue()
        #expect(try await world.credential().state == .authorized)
        #expect(try await world.status() == .held)
        // Nothing of the client ID is asked while it rests.
        world.pass(.seconds(599))
        await process.checkDue(asked: 1)
        world.pass(.seconds(2))
        await process.checkDue(asked: 2)
    }

    @Test(arguments: World.Storage.allCases)
    func `claims nothing for a client ID that rests, and checks the tokens of another`(
        storage: World.Storage
    ) async throws {
        let (world, process) = try await held(storage)
        let first = try #require(try await world.store.nextDue().check)
        let due = first.advanced(byMilliseconds: 1)
        for number in 1...20 as ClosedRange<UInt64> {
            try await world.store.hold(number, key: .sample("resting-\(number)"), nextCheckAt: due)
        }
        world.apple.script(.validate, .failed(.invalidClient))
        await process.checkDue(1, asked: 1)
        let counted = try await world.store.backlog(at: world.now).checks
        for _ in 0..<5 { await process.checkDue() }
        #expect(world.apple.questions(.validate).count == 1)
        // The next look is not at once, although checks are due.
        let look = await process.check.claim(8)
        #expect(look.work.isEmpty && look.nextLook == DailyCheck.traits.longestLook)
        // Nothing was claimed: a claim would have moved the check a day ahead, or given it back.
        #expect(try await world.store.backlog(at: world.now).checks == counted)
        let untouched = try await world.store.claimChecks(
            limit: 100, at: world.now, nextAfter: world.now, jitterMilliseconds: 1)
        #expect(untouched.count == 20)
        #expect(untouched.allSatisfy { $0.dueSince == due })
    }

    @Test(arguments: [[], ["second"]] as [[String]])
    func `leaves a token alone that does not open, and asks when the key is back`(
        keys: [String]
    ) async throws {
        let (world, _) = try await held()
        let locked = try world.process(keys: keys)
        for _ in 0..<5 { await locked.checkDue() }
        #expect(world.apple.questions(.validate).isEmpty)
        #expect(try await world.credential().state == .authorized)
        #expect(try await world.status() == .held)
        #expect(try await world.store.nextDue().check ?? 0 > world.now)
        world.pass(.seconds(86_400 + 3600))
        await (try world.process(keys: ["second", "first"])).checkDue()
        #expect(world.apple.questions(.validate).count == 1)
    }

    @Test func `refuses rows that were swapped`() async throws {
        let (world, process) = try await World.running()
        world.apple.know(code: "mine")
        world.apple.know(code: "web", clientID: World.web)
        try await process.signIn(code: "mine")
        try await process.signIn(code: "web", ["aud": .string(World.web)])
        await process.exchangeDue()
        let rows = try await world.store.sealedSecrets(after: nil, limit: 10)
        #expect(rows.count == 2)
        #expect(try await world.store.replaceSealed(rows[0], with: rows[1].sealed))
        world.pass(.seconds(86_400 + 3600))
        await process.checkDue()
        // Only the one that was left in its place.
        #expect(world.apple.questions(.validate).map(\.clientID) == [rows[1].clientID.rawValue])
        #expect(try await world.credential().state == .authorized)
    }

    @Test func `keeps to its rate`() async throws {
        let world = try await World()
        let process = try world.process(perSecond: 2)
        try await process.signIn(0..<6)
        await process.exchangeDue()
        world.pass(.seconds(86_400 + 3600))
        for expected in [2, 4, 6] {
            await process.checkDue()
            await process.checkDue(asked: expected)
            world.pass(.seconds(1))
        }
    }

    @Test func `never asks twice in a day, with two processes that crash at random`() async throws {
        let (world, first) = try await World.running()
        var random = SeededGenerator(seed: 42)
        try await first.signIn(0..<10)
        await first.exchangeDue()
        for _ in 0..<300 {
            world.pass(.seconds(Int64.random(in: 60...3600, using: &random)))
            let fuses = [Int.random(in: 0...30, using: &random), Int.random(in: 0...30, using: &random)]
            let processes = try fuses.map { try world.process(fuse: Fuse(holds: $0)) }
            await withTaskGroup(of: Void.self) { group in
                for process in processes { group.addTask { await process.checkDue() } }
            }
        }
        let questions = Dictionary(grouping: world.apple.questions(.validate), by: \.secret)
        #expect(questions.count == 10)
        for (_, asked) in questions {
            #expect(asked.count > 2)
            for (earlier, later) in zip(asked, asked.dropFirst()) {
                #expect(later.second - earlier.second >= 86_400)
            }
        }
    }
}

@Suite struct CheckScheduleTests {
    @Test(arguments: [86_400, 172_800, 4] as [Int64])
    func `comes after the interval and its margin, and within a twenty-fourth of it`(seconds: Int64) {
        let schedule = CheckSchedule(interval: .seconds(seconds))
        let interval = seconds * 1000
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<1000 {
            let next = schedule.next(after: 1000, using: &generator).milliseconds - 1000
            #expect(next >= interval + interval / 1440)
            #expect(next < interval + interval / 24)
        }
    }
}

@Suite struct CheckVerdictTests {
    @Test func `believes only one answer about the user`() {
        for code in AppleCallError.Code.allCases { #expect(CheckVerdict(AppleCallError(code)) != .rejected) }
        for error in AppleErrorCode.allCases {
            let verdict = CheckVerdict(AppleCallError(.rejected, appleError: error))
            #expect((verdict == .rejected) == (error == .invalidGrant))
        }
    }

    @Test(
        arguments: [
            (.unreachable, .notAsked), (.circuitOpen, .notAsked), (.throttled, .throttled),
            (.noSigningKey, .refusedUs), (.signingFailed, .refusedUs), (.timedOut, .unknown),
            (.connectionLost, .unknown), (.responseUnusable, .unknown), (.serverFailed, .unknown),
        ] as [(AppleCallError.Code, CheckVerdict)])
    func `asks again within the day only where Apple was surely not asked`(
        code: AppleCallError.Code, verdict: CheckVerdict
    ) { #expect(CheckVerdict(AppleCallError(code)) == verdict) }

    @Test(arguments: [.invalidClient, .unauthorizedClient] as [AppleErrorCode])
    func `takes a refused client for our own fault`(error: AppleErrorCode) {
        #expect(CheckVerdict(AppleCallError(.rejected, appleError: error)) == .refusedUs)
    }
}
