import AppleEmulator
import EmulatorServer
import HummingbirdCore
import JOSE
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import StrictJSON
import Synchronization
import TestSupport
import Testing

@Suite struct EmulatedAppleTests {
    private var apple: EmulatorUnderTest { .current }

    @Test(.apple())
    func `all waiting callers get the error when the port is in use`() async throws {
        var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
        configuration.keys = try await TestKeys.keys()
        configuration.port = apple.port
        let second = try await EmulatedApple(
            configuration: configuration, clock: apple.clock.emulatorClock, logger: .silent)
        let waiting = Task { try await second.port() }
        await #expect(throws: (any Error).self) { try await second.run() }
        await #expect(throws: (any Error).self) { try await waiting.value }
        await #expect(throws: (any Error).self) { try await second.port() }
    }

    @Test func `a cancelled caller stops waiting`() async throws {
        var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
        configuration.keys = try await TestKeys.keys()
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: TestClock().emulatorClock, logger: .silent)
        let waiting = Task { try await emulator.port() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `mints in process without a socket`() async throws {
        var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
        configuration.keys = try await TestKeys.keys()
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: TestClock().emulatorClock, logger: .silent)
        let token = try ReadToken(await emulator.state.mint(IdentityTokenRecipe()).identityToken)
        let key = try #require(try await TestKeys.keys().first { $0.keyID == token.header["kid"]?.string })
        #expect(try token.isSigned(by: .object(try await key.privateKey.publicJWK(keyID: key.keyID))))
    }

    @Test(.timeLimit(.hung)) func `ends with a graceful shutdown`() async throws {
        var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
        configuration.keys = try await TestKeys.keys()
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: TestClock().emulatorClock, logger: .silent)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [emulator], logger: .silent))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            _ = try await emulator.port()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `refuses an invalid configuration`() async throws {
        #expect(throws: EmulatorError(.configurationInvalid)) { try EmulatedApp(teamID: "T", clientIDs: []) }
        #expect(throws: EmulatorError(.configurationInvalid)) {
            try EmulatedApp(teamID: "", clientIDs: ["a"])
        }
        let app = try EmulatedApp(teamID: "T", clientIDs: ["a"])
        for spoil: (inout EmulatorConfiguration) -> Void in [
            { $0.apps = [] }, { $0.apps.append(app) }, { $0.keyCount = 0 }, { $0.keyCount = 17 },
            { $0.port = -1 },
        ] {
            var configuration = EmulatorConfiguration(apps: [app])
            spoil(&configuration)
            await #expect(throws: EmulatorError(.configurationInvalid)) {
                try await EmulatedApple(configuration: configuration, clock: .system)
            }
        }
    }
}

@Suite struct AcceptedConnectionTests {
    private static let group = MultiThreadedEventLoopGroup.singleton

    @Test func `a connection that is accepted and never served is closed, and the process continues`()
        async throws
    {
        let deferred = DeferredHTTPChannel(http: HTTP1Channel(responder: { _, _, _ in }))
        let server = try await ServerBootstrap(group: Self.group)
            .childChannelInitializer { channel in
                // When Hummingbird is cancelled, it releases the value.
                deferred.setup(channel: channel, logger: .silent).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        for _ in 0..<20 {
            let client = try await ClientBootstrap(group: Self.group).connect(to: address).get()
            try await client.closeFuture.get()
        }
        try await server.close()
    }

    @Test func `can be cancelled while clients connect, and the process continues`() async throws {
        for round in 0..<40 {
            var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
            configuration.keys = try await TestKeys.keys()
            let emulator = try await EmulatedApple(
                configuration: configuration, clock: TestClock().emulatorClock, logger: .silent)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await emulator.run() }
                let port = try await emulator.port()
                for _ in 0..<16 {
                    tasks.addTask {
                        // Refused or closed.
                        let client = try? await ClientBootstrap(group: Self.group)
                            .connect(host: "127.0.0.1", port: port).get()
                        try? await client?.close()
                    }
                }
                // At a different time of the connection in each round.
                for _ in 0..<round { await Task.yield() }
                tasks.cancelAll()
                while await tasks.nextResult() != nil {}
            }
        }
    }
}

/// A clock that tests set, and whose sleeps return at once and are recorded.
final class TestClock: Sendable {
    private struct State {
        var now: Int64
        var sleeps: [Int64] = []
        var holdsSleeps = false
        var sleepers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(milliseconds: Int64 = 1_700_000_000_123) { state = Mutex(State(now: milliseconds)) }

    var seconds: Int64 { state.withLock { $0.now / 1000 } }
    var milliseconds: Int64 { state.withLock { $0.now } }
    var sleeps: [Int64] { state.withLock { $0.sleeps } }

    func advance(bySeconds seconds: Int64) {
        state.withLock { $0.now += seconds * 1000 }
    }

    var emulatorClock: EmulatorClock {
        EmulatorClock(
            now: { self.milliseconds },
            sleep: { milliseconds in await self.sleep(milliseconds) })
    }

    private func sleep(_ milliseconds: Int64) async {
        await withCheckedContinuation { sleeper in
            let isHeld = state.withLock { state in
                state.sleeps.append(milliseconds)
                if state.holdsSleeps { state.sleepers.append(sleeper) }
                return state.holdsSleeps
            }
            if !isHeld { sleeper.resume() }
        }
    }

    /// From now on, a sleep lasts until the test wakes it.
    func holdSleeps() { state.withLock { $0.holdsSleeps = true } }

    func wakeOldestSleeper() {
        state.withLock { $0.sleepers.isEmpty ? nil : $0.sleepers.removeFirst() }?.resume()
    }
}

/// Three keys, generated once for the whole run.
enum TestKeys {
    static let keyIDs = ["pggnQeNCOU", "86D88Kf", "YuyXoY"]

    /// Signs the client secrets of the team in `EmulatorUnderTest`.
    static let clientKeyID = "ABC123DEFG"
    static var clientKey: ClientKey {
        get throws { try ClientKey(teamID: EmulatorUnderTest.teamID, keyID: clientKeyID, pem: clientKeyPEM) }
    }

    /// Generated for these tests, and not registered.
    static let clientKeyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnjPsJ0h6cNEH1k1W
        SUfGngJfNG7dguUyBn4FSco379ShRANCAASsglS0o25tqypa2rq9SNx9iQlNK8YU
        IAdDxdoyNCA9Wq6IzUhs4BoVzF1uCms16kALWNIeC16k3QZ8N+igHjD7
        -----END PRIVATE KEY-----
        """

    private static let making = Task {
        try await SigningKey.generate(count: 3)
    }

    static func keys() async throws -> [SigningKey] {
        var keys: [SigningKey] = []
        for (keyID, made) in zip(keyIDs, try await making.value) {
            keys.append(SigningKey(keyID: keyID, privateKey: try await made.privateKey))
        }
        return keys
    }
}
