import AppleAccounts
import AppleIDClient
import KeySets
import ServiceLifecycle
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import SignIn

@Suite struct CodeExchangeTests {
    @Test(arguments: World.Storage.allCases)
    func `exchanges a code that came with a sign-in, and holds the token`(
        storage: World.Storage
    ) async throws {
        let (world, process) = try await World.running(storage)
        #expect(try await process.signIn().credential.refreshToken == .pending)
        #expect(world.apple.questions.isEmpty)
        await process.exchangeDue()
        #expect(try await world.status() == .held)
        #expect(try await world.store.nextDue().code == nil)
        let question = try #require(world.apple.questions.first)
        #expect(world.apple.questions.count == 1)
        #expect(question.secret == World.code)
        #expect(question.clientID == "com.example.app")
        #expect(question.redirectURI == nil)
    }

    @Test func `uses the token's own audience and the redirect URI of the web`() async throws {
        let world = try await World()
        world.apple.know(code: World.code, clientID: World.web)
        let process = try world.process()
        try await process.signIn(redirectURI: "https://example.com/back", ["aud": .string(World.web)])
        await process.exchangeDue()
        #expect(try await world.status() == .held)
        #expect(world.apple.questions.map(\.clientID) == [World.web])
        #expect(world.apple.questions.map(\.redirectURI) == ["https://example.com/back"])
        // And the token is checked with it.
        world.pass(.seconds(86_400 + 3600))
        await process.checkDue()
        #expect(world.apple.questions(.validate).map(\.clientID) == [World.web])
        #expect(try await world.credential().state == .authorized)
    }

    @Test func `says nothing of a refresh token when no code came`() async throws {
        let (world, process) = try await World.running()
        #expect(try await process.signIn(code: nil).credential.refreshToken == nil)
        #expect(try await world.store.sealedCount() == 0)
    }

    @Test(
        arguments: [([], true, .noSealingKey), (["first"], false, .noSigningKey)]
            as [([String], Bool, RefreshTokenCause)])
    func `signs in without a key, and keeps nothing`(
        keys: [String], canSign: Bool, cause: RefreshTokenCause
    ) async throws {
        let world = try await World()
        let process = try world.process(keys: keys, canSign: canSign)
        #expect(try await process.signIn().credential.refreshToken == .unavailable(cause))
        #expect(try await world.store.sealedCount() == 0)
        await process.exchangeDue(asked: 0)
    }

    @Test func `refuses a code that is not the token's`() async throws {
        let (world, process) = try await World.running()
        await #expect(throws: (any Error).self) {
            try await process.useCases.commitSignIn(
                SignInRequest(
                    token: IdentityTokenRequest(
                        identityToken: world.token("another"), authorizationCode: World.code)),
                allowed: .all)
        }
        #expect(try await world.store.sealedCount() == 0)
    }

    @Test(
        arguments: [
            (.invalidGrant, .codeRejected), (.invalidClient, .clientRejected),
            (AppleCallError(.rejected, appleError: .unauthorizedClient), .clientRejected),
            (AppleCallError(.noSigningKey), .noSigningKey),
            (AppleCallError(.timedOut), .exchangeUncertain),
            (AppleCallError(.connectionLost), .exchangeUncertain),
            (AppleCallError(.responseUnusable), .exchangeUncertain),
        ] as [(AppleCallError, RefreshTokenCause)])
    func `gives up with the cause, whether it happened or not`(
        error: AppleCallError, cause: RefreshTokenCause
    ) async throws {
        for fault in [ScriptedApple.Fault.failed(error), .happened(error)] {
            let world = try await World()
            world.apple.script(.exchange, fault)
            let process = try world.process()
            try await process.signIn()
            await process.exchangeDue()
            #expect(try await world.status() == .unavailable(cause))
            world.pass(.seconds(600))
            await process.exchangeDue(asked: 1)
            #expect(try await world.store.sealedCount() == 0)
            // The sign-in was none the worse for it.
            #expect(try await world.credential().state == .authorized)
        }
    }

    @Test(arguments: [.unreachable, .circuitOpen, .serverFailed, .throttled] as [AppleCallError.Code])
    func `tries again within the five minutes`(code: AppleCallError.Code) async throws {
        let world = try await World()
        for _ in 0..<4 { world.apple.script(.exchange, .failed(AppleCallError(code))) }
        let process = try world.process()
        try await process.signIn()
        for expected in 1...4 {
            await process.exchangeDue(asked: expected)
            #expect(try await world.status() == .pending)
            await process.exchangeDue(asked: expected)
            world.pass(.seconds(20))
        }
        await process.exchangeDue()
        #expect(try await world.status() == .held)
    }

    @Test func `slows down as a whole when Apple throttles, and loses no code`() async throws {
        let (world, process) = try await World.running()
        try await process.signIn(0..<10)
        for _ in 0..<11 { world.apple.script(.exchange, .failed(AppleCallError(.throttled))) }
        await process.exchangeDue(asked: 10)
        // Codes that come meanwhile wait too.
        try await process.signIn(10..<20)
        await process.exchangeDue(asked: 10)
        world.pass(.seconds(2))
        // One finds out that Apple still throttles, and then that it does not.
        await process.exchangeDue()
        await process.exchangeDue(asked: 11)
        world.pass(.seconds(3))
        await process.exchangeDue(asked: 12)
        #expect(world.apple.granted.count == 1)
        for _ in 0..<2 { await process.exchangeDue() }
        world.pass(.seconds(1))
        await process.exchangeDue()
        #expect(world.apple.granted.count == 20)
    }

    @Test func `waits as long as Apple asks for, and half a minute at most`() async throws {
        let (world, process) = try await World.running()
        try await process.signIn(0..<1)
        world.apple.script(.exchange, .failed(AppleCallError(.throttled, retryAfter: .seconds(3600))))
        await process.exchangeDue()
        try await process.signIn(1..<2)
        world.pass(.seconds(29))
        await process.exchangeDue(asked: 1)
        world.pass(.seconds(1))
        await process.exchangeDue()
        #expect(world.apple.questions.map(\.secret) == ["code-0", "code-1"])
        // The code that was throttled is tried once more before it expires.
        world.pass(.seconds(268))
        await process.exchangeDue()
        #expect(world.apple.granted.count == 2)
    }

    @Test func `lets a client ID rest that Apple refuses three times, and no other`() async throws {
        let (world, process) = try await World.running()
        try await process.signIn(0..<3)
        for _ in 0..<3 { world.apple.script(.exchange, .failed(.invalidClient)) }
        await process.exchangeDue(asked: 3)
        try await process.signIn(3..<4)
        world.apple.know(code: "web", clientID: World.web)
        try await process.signIn(code: "web", ["aud": .string(World.web)])
        await process.exchangeDue()
        // Another client ID is not concerned.
        #expect(world.apple.questions.map(\.secret).suffix(1) == ["web"])
        #expect(world.apple.questions.count == 4)
        world.pass(.seconds(29))
        await process.exchangeDue(asked: 4)
        world.pass(.seconds(1))
        await process.exchangeDue()
        #expect(world.apple.questions.map(\.secret).suffix(1) == ["code-3"])
        #expect(world.apple.granted.count == 2)
    }

    @Test func `gives up when the five minutes are over`() async throws {
        let world = try await World()
        for _ in 0..<100 { world.apple.script(.exchange, .failed(AppleCallError(.unreachable))) }
        let process = try world.process()
        try await process.signIn()
        let begun = world.now
        for _ in 0..<301 {
            await process.exchangeDue()
            // It is given up when no further attempt would come before its end.
            let isWaiting = try await world.status() == .pending
            let waiting = try await world.store.backlog(at: world.now).codes
            #expect(
                waiting
                    == AppleTokensBacklog.Queue(count: isWaiting ? 1 : 0, since: isWaiting ? begun : nil))
            world.pass(.seconds(1))
        }
        #expect(try await world.status() == .unavailable(.codeExpired))
        #expect((10...16).contains(world.apple.questions.count))
        #expect(try await world.store.nextDue().code == nil)
    }

    @Test func `asks nothing for a code that waited too long`() async throws {
        let (world, process) = try await World.running()
        try await process.signIn()
        world.pass(.seconds(300))
        await process.exchangeDue(asked: 0)
        #expect(try await world.status() == .unavailable(.codeExpired))
    }

    @Test(
        arguments: [
            ["sub": .string("000000.somebody.else")], ["at_hash": .string("AAAAAAAAAAAAAAAAAAAAAA")],
            ["at_hash": nil], ["aud": .string("com.example.web")], ["iss": .string("https://evil.example")],
        ] as [[String: JSONValue?]])
    func `keeps no token of another user`(changes: [String: JSONValue?]) async throws {
        try await expect(.unavailable(.identityMismatch)) { $0.setClaims(changes) }
    }

    @Test func `keeps no token without the word of whom it is`() async throws {
        try await expect(.unavailable(.identityMismatch)) { $0.leaveOut(identityToken: true) }
    }

    @Test func `takes an answer without a token for an unusable one`() async throws {
        try await expect(.unavailable(.exchangeUncertain)) { $0.leaveOut(refreshToken: true) }
    }

    /// Signs in and exchanges the code at such an Apple, and expects that nothing is kept.
    private func expect(_ status: RefreshTokenStatus, at apple: (ScriptedApple) -> Void) async throws {
        let (world, process) = try await World.running()
        apple(world.apple)
        try await process.signIn()
        await process.exchangeDue()
        #expect(try await world.status() == status)
        #expect(try await world.store.sealedCount() == 0)
    }

    @Test(arguments: [.keysUnavailable, .unknownKey] as [KeySetError.Code])
    func `does not throw a token away because Apple's keys are not at hand`(
        code: KeySetError.Code
    ) async throws {
        let world = try await World()
        try await world.process().signIn()
        let process = try world.process(verification: StubKeys(failure: code))
        await process.exchangeDue()
        #expect(try await world.status() == .held)
    }

    @Test func `holds the newest token of two`() async throws {
        let world = try await World()
        world.apple.know(code: "first")
        world.apple.know(code: "second")
        let process = try world.process()
        try await process.signIn(code: "first")
        world.pass(.seconds(5))
        try await process.signIn(code: "second")
        let codes = await process.exchange.claim(16).work
        #expect(codes.count == 2)
        for code in codes.reversed() { await process.exchange.perform(code) }
        #expect(try await world.status() == .held)
        world.pass(.seconds(86_400 + 3600))
        await process.checkDue()
        #expect(world.apple.questions(.validate).map(\.secret) == ["refresh-1-of-second"])
    }

    @Test func `keeps trying to store a token that Apple gave only once`() async throws {
        let world = try await World()
        let fuse = Fuse()
        let process = try world.process(fuse: fuse)
        try await process.signIn()
        let codes = await process.exchange.claim(16).work
        // The fuse is of the database alone here: Apple is asked before it begins to flicker.
        world.apple.whenAsked { fuse.flicker(5) }
        for code in codes { await process.exchange.perform(code) }
        #expect(try await world.status() == .held)
        #expect(world.apple.questions.count == 1)
    }

    @Test func `does not keep the token of a consent that ended meanwhile`() async throws {
        let (world, process) = try await World.running()
        try await process.signIn()
        let codes = await process.exchange.claim(16).work
        world.pass(.seconds(1))
        _ = try await process.useCases.commitNotification(Subject.notification(at: 11, jti: "ended"))
        for code in codes { await process.exchange.perform(code) }
        #expect(try await world.status() == .unavailable(.credentialRevoked))
        #expect(try await world.store.sealedCount() == 0)
    }
}

@Suite struct ExchangeAttemptTests {
    private func attempt(_ number: Int = 1, isInterrupted: Bool = false) -> ExchangeAttempt {
        ExchangeAttempt(number: number, isInterrupted: isInterrupted, expiresAt: 300_000)
    }

    @Test(arguments: [.unreachable, .circuitOpen, .serverFailed, .throttled] as [AppleCallError.Code])
    func `tries again what granted nothing, within the code's life`(code: AppleCallError.Code) {
        let error = AppleCallError(code)
        #expect(attempt().verdict(on: error, at: 1000, delay: 2000) == .tryAgain(at: 3000))
        // The last attempt is made while the code is still good.
        #expect(attempt(9).verdict(on: error, at: 290_000, delay: 30_000) == .tryAgain(at: 298_000))
        #expect(attempt(9).verdict(on: error, at: 298_000, delay: 30_000) == .giveUp(.codeExpired))
        #expect(attempt(9).verdict(on: error, at: .last, delay: .max) == .giveUp(.codeExpired))
        #expect(
            attempt(9, isInterrupted: true).verdict(on: error, at: 299_000, delay: 1)
                == .giveUp(.exchangeUncertain))
    }

    @Test(arguments: [.timedOut, .connectionLost, .responseUnusable] as [AppleCallError.Code])
    func `never sends a code twice that may have been used`(code: AppleCallError.Code) {
        for attempt in [attempt(), attempt(3), attempt(isInterrupted: true)] {
            #expect(
                attempt.verdict(on: AppleCallError(code), at: 1000, delay: 1) == .giveUp(.exchangeUncertain))
        }
    }

    @Test(arguments: AppleErrorCode.allCases)
    func `takes Apple's refusal for the end`(error: AppleErrorCode) {
        let refusal = AppleCallError(.rejected, appleError: error)
        let isClient = error == .invalidClient || error == .unauthorizedClient
        #expect(
            attempt().verdict(on: refusal, at: 1, delay: 1)
                == .giveUp(isClient ? .clientRejected : .codeRejected))
        // After an attempt without an end a refusal does not say that the code was bad.
        for attempt in [attempt(2), attempt(isInterrupted: true)] {
            #expect(
                attempt.verdict(on: refusal, at: 1, delay: 1)
                    == .giveUp(isClient ? .clientRejected : .exchangeUncertain))
        }
    }

    @Test func `waits as long as Apple asks for`() {
        let error = AppleCallError(.throttled, retryAfter: .seconds(60))
        #expect(attempt().verdict(on: error, at: 0, delay: 1000) == .tryAgain(at: 60_000))
        let soon = AppleCallError(.throttled, retryAfter: .milliseconds(1))
        #expect(attempt().verdict(on: soon, at: 0, delay: 1000) == .tryAgain(at: 1000))
    }

    @Test func `tells a missing key from a broken one`() {
        #expect(
            attempt().verdict(on: AppleCallError(.noSigningKey), at: 0, delay: 1) == .giveUp(.noSigningKey))
        let broken = AppleCallError(.signingFailed)
        #expect(attempt().verdict(on: broken, at: 0, delay: 1000) == .tryAgain(at: 1000))
        #expect(attempt().verdict(on: broken, at: 299_000, delay: 1000) == .giveUp(.noSigningKey))
    }

    @Test func `does not ask when the time is over`() {
        #expect(attempt().refusal(at: 299_999) == nil)
        #expect(attempt().refusal(at: 300_000) == .codeExpired)
        #expect(attempt(isInterrupted: true).refusal(at: 300_000) == .exchangeUncertain)
    }

    @Test func `waits while its client ID rests, but for the last attempt`() {
        let attempt = ExchangeAttempt(number: 1, isInterrupted: false, expiresAt: 300_000)
        #expect(attempt.later(60_000, at: 30_000) == 60_000)
        #expect(attempt.later(320_000, at: 290_000) == 298_000)
        #expect(attempt.later(320_000, at: 298_000) == nil)
    }
}

/// The workers as they run in the service: woken by signals, stopped by a shutdown.
@Suite struct AppleGrantWorkersTests {
    @Test(arguments: World.Storage.allCases)
    func `exchange when a sign-in rings, and end at a shutdown what they have begun`(
        storage: World.Storage
    ) async throws {
        let (world, gate) = (try await World(storage), Gate())
        world.apple.whenAsked { await gate.pass() }
        let process = try world.process(waits: ManualClock())
        let workers = AppleTokenWorkers(
            tokenContext: process.tokenContext, commits: process.commits, apple: world.apple,
            check: process.grantCheck, now: process.useCases.now, logger: .silent)
        let group = ServiceGroup(
            services: [process.commits, workers], gracefulShutdownSignals: [], logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await process.signIn()
            await gate.arrival()
            await group.triggerGracefulShutdown()
            gate.open()
            try await tasks.waitForAll()
        }
        #expect(try await world.status() == .held)
        #expect(world.apple.questions.count == 1)
    }

    @Test func `leave nothing but a claim when they are cancelled in the middle`() async throws {
        let (world, gate) = (try await World(), Gate())
        world.apple.whenAsked { await gate.pass() }
        let process = try world.process(waits: ManualClock())
        try await process.signIn()
        let exchange = ClaimLoop(
            CodeExchange(
                tokenContext: process.tokenContext, commits: process.commits, apple: world.apple,
                check: process.grantCheck, now: process.useCases.now, logger: .silent))
        world.apple.script(.exchange, .failed(AppleCallError(.connectionLost)))
        let running = Task { try await exchange.run() }
        await gate.arrival()
        running.cancel()
        gate.open()
        try await running.value
        #expect(try await world.status() == .pending)
        // The one who comes after it asks again.
        world.pass(.milliseconds(CodeExchange.lease))
        await process.exchangeDue()
        #expect(try await world.status() == .held)
    }
}
