import AppleEmulator
import EmulatorServer
import Foundation
import HTTPEngine
import KeySets
import Logging
import NIOCore
import TestSupport

@testable import Composition
@testable import siwa_dev

/// The fake Apple and the service as `siwa dev` runs them, in this process, over real sockets.
struct WholeSystem: Sendable {
    static let team = DevelopmentSettings.team
    static let clientID = "com.example.app"
    static let webClientID = "com.example.web"

    let apple: EmulatorState
    let directory: TemporaryDirectory
    let backend: Backend

    /// Bounds without rejections for overload: a round of the event loops takes many times as long in a test
    /// build.
    private static var admission: AdmissionBounds {
        var bounds = AdmissionBounds()
        bounds.target = .seconds(60)
        bounds.notificationTarget = .seconds(60)
        return bounds
    }

    /// Runs both during `body`. `bounds` are for tests that cannot wait for the default bounds.
    static func with<Result: Sendable>(
        bounds: KeySetBounds = KeySetBounds(), _ body: @Sendable (WholeSystem) async throws -> Result
    ) async throws -> Result {
        try await withApple { emulator, directory in
            try await withService(emulator, directory, bounds: bounds) { backend in
                try await body(WholeSystem(apple: emulator.state, directory: directory, backend: backend))
            }
        }
    }

    /// Signing keys of the fake Apple, made once because making keys takes longer than most tests.
    private static let appleKeys = Task { try await SigningKey.generate(count: 3) }

    /// Runs the fake Apple alone.
    static func withApple<Result: Sendable>(
        configuring change: (inout EmulatorConfiguration) throws -> Void = { _ in },
        _ body: @Sendable (EmulatedApple, TemporaryDirectory) async throws -> Result
    ) async throws -> Result {
        var configuration = try EmulatorConfiguration(teamID: team, clientIDs: [clientID, webClientID])
        configuration.keys = try await appleKeys.value
        try change(&configuration)
        let emulator = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        return try await TemporaryDirectory.with { directory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await emulator.run() }
                _ = try await emulator.port()
                let result = try await body(emulator, directory)
                group.cancelAll()
                return result
            }
        }
    }

    /// Settings of a service process that uses this fake Apple.
    static func variables(_ emulator: EmulatedApple) async throws -> [String: String] {
        [
            "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:\(try await emulator.port())",
            "APPLE_TEAM_ID": team, "APPLE_CLIENT_IDS": "\(clientID),\(webClientID)",
            "SIWA_SEALING_KEYS": ServiceProcess.sealingKey(), "SIWA_API_KEY_HASHES": Backend.secretHash,
        ]
    }

    /// Runs the service. Another call is a restart; on PostgreSQL, a call inside `body` starts a replica.
    ///
    /// - Parameter database: URL; `nil` for a file in `directory`.
    static func withService<Result: Sendable>(
        _ emulator: EmulatedApple, _ directory: TemporaryDirectory, database: String? = nil,
        bounds: KeySetBounds = KeySetBounds(), waitsForKeys: Bool = true, webhooks: [WebhookSettings] = [],
        _ body: @Sendable (Backend) async throws -> Result
    ) async throws -> Result {
        var settings = try DevelopmentSettings(
            clientIDs: [clientID, webClientID], port: 0, applePort: try await emulator.port(),
            secret: Backend.secret, database: database ?? "sqlite://\(directory.path)/siwa.sqlite"
        ).settings()
        settings.webhooks = webhooks
        let service = try await ComposedService(
            settings: settings, observation: ProcessObservation(level: .error) { _ in }, signals: [],
            keySetBounds: bounds, admission: Self.admission)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            let port = try await service.boundPort()
            try emulator.state.setNotificationURL("http://127.0.0.1:\(port)/v1/apple/notifications")
            if waitsForKeys { await service.waitForKeys() }
            let result = try await body(Backend(port: port))
            await service.stop()
            try await group.waitForAll()
            return result
        }
    }
}
