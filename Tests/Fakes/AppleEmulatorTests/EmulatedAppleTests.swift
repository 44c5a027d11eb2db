import AppleEmulator
import EmulatorServer
import JOSE
import Logging
import ServiceLifecycle
import StrictJSON
import TestSupport
import Testing

@Suite struct EmulatedAppleTests {
    @Test func `all waiting callers get the error when the port is in use`() async throws {
        try await EmulatorUnderTest.run { apple in
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
        let token = try ReadToken(emulator.state.mint(IdentityTokenRecipe()).identityToken)
        let key = try #require(try await TestKeys.keys().first { $0.keyID == token.header["kid"]?.string })
        #expect(try token.isSigned(by: .object(key.privateKey.publicJWK(keyID: key.keyID))))
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
