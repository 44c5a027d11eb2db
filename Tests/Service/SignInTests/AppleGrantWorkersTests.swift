import AppleAccounts
import AppleIDClient
import ServiceLifecycle
import StorageConformance
import Synchronization
import TestSupport
import Testing
import TokenMint

@testable import SignIn

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
