import AppleAccounts
import AppleIDClient
import ServiceLifecycle
import StorageConformance
import Synchronization
import TestSupport
import Testing
import TokenMint

@testable import SignIn

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
    /// Apple, which responds only when the test allows it.
    final class SlowApple: AppleTokenService {
        private struct State {
            var isOpen = false
            var held: [CheckedContinuation<Void, Never>] = []
            var arrivals: [CheckedContinuation<Void, Never>] = []
        }

        private let apple: ScriptedApple
        private let state = Mutex(State())

        init(_ apple: ScriptedApple) {
            self.apple = apple
        }

        /// Returns when a caller waits for a response.
        func arrival() async {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    guard state.held.isEmpty else { return continuation.resume() }
                    state.arrivals.append(continuation)
                }
            }
        }

        func open() {
            let held = state.withLock { state in
                state.isOpen = true
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        private func hold() async {
            await withCheckedContinuation { continuation in
                let arrivals = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    guard !state.isOpen else {
                        continuation.resume()
                        return []
                    }
                    state.held.append(continuation)
                    defer { state.arrivals = [] }
                    return state.arrivals
                }
                for arrival in arrivals { arrival.resume() }
            }
        }

        func exchange(
            code: String, clientID: String, redirectURI: String?
        ) async throws(AppleCallError) -> AppleTokenResponse {
            await hold()
            return try await apple.exchange(code: code, clientID: clientID, redirectURI: redirectURI)
        }

        func validate(refreshToken: String, clientID: String) async throws(AppleCallError)
            -> AppleTokenResponse
        {
            try await apple.validate(refreshToken: refreshToken, clientID: clientID)
        }

        func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
            try await apple.revoke(refreshToken: refreshToken, clientID: clientID)
        }
    }

    @Test(arguments: World.Storage.allCases)
    func `exchange when a sign-in rings, and end at a shutdown what they have begun`(
        storage: World.Storage
    ) async throws {
        try await World.with(storage) { world in
            world.apple.know(code: World.code)
            let process = try world.process(waits: ManualClock())
            let apple = SlowApple(world.apple)
            let workers = AppleTokenWorkers(
                tokenContext: process.tokenContext, commits: process.commits, apple: apple,
                check: process.grantCheck, now: process.useCases.now, logger: .silent)
            let group = ServiceGroup(
                services: [process.commits, workers], gracefulShutdownSignals: [], logger: .silent)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await process.signIn(world)
                await apple.arrival()
                await group.triggerGracefulShutdown()
                apple.open()
                try await tasks.waitForAll()
            }
            #expect(try await world.status() == .held)
            #expect(world.apple.questions.count == 1)
        }
    }

    @Test func `leave nothing but a claim when they are cancelled in the middle`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            let process = try world.process(waits: ManualClock())
            try await process.signIn(world)
            let apple = SlowApple(world.apple)
            let exchange = ClaimLoop(
                CodeExchange(
                    tokenContext: process.tokenContext, commits: process.commits, apple: apple,
                    check: process.grantCheck, now: process.useCases.now, logger: .silent))
            world.apple.script(.exchange, .failed(AppleCallError(.connectionLost)))
            let running = Task { try await exchange.run() }
            await apple.arrival()
            running.cancel()
            apple.open()
            try await running.value
            #expect(try await world.status() == .pending)
            // The one who comes after it asks again.
            world.pass(.milliseconds(CodeExchange.lease))
            await process.exchangeDue()
            #expect(try await world.status() == .held)
        }
    }
}
