import AppleEmulator
import AppleIDClient
import EmulatorServer
import Foundation
import Logging
import ServiceLifecycle
import TestSupport

/// The fake Apple on a real socket, with one team that has a key, during a test.
struct RunningApple: Sendable {
    static let team = "A1B2C3D4E5"
    static let otherTeam = "F6G7H8I9J0"
    static let clientID = "com.example.app"

    let state: EmulatorState
    let baseURL: String
    /// The key file that the team would have downloaded from Apple.
    let key: ClientSigningKey
    let pem: String

    private static let keys = Task { try await SigningKey.generate(count: 1) }

    static func with<Result: Sendable>(_ body: @Sendable (RunningApple) async throws -> Result) async throws
        -> Result
    {
        var configuration = try EmulatorConfiguration(
            teamID: team, clientIDs: [clientID, "com.example.web"])
        let key = try ClientKey.generate(teamID: team, keyID: "K1L2M3N4O5")
        configuration.clientKeys = [key]
        configuration.keys = try await keys.value
        let emulator = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        let pem = key.privateKeyPEM ?? ""
        let running = try ClientSigningKey(keyID: key.keyID, pem: pem)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await emulator.run() }
            let port = try await emulator.port()
            let result = try await body(
                RunningApple(
                    state: emulator.state, baseURL: "http://127.0.0.1:\(port)", key: running, pem: pem))
            group.cancelAll()
            return result
        }
    }

    /// A valid configuration with changes; `nil` removes a variable.
    func environment(_ directory: String, _ changes: [String: String?] = [:]) throws -> [String: String] {
        let path = "\(directory)/AuthKey_\(key.keyID).p8"
        try Data(pem.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        var environment = [
            "SIWA_ENV": "development", "APPLE_TEAM_ID": Self.team,
            "APPLE_CLIENT_IDS": "\(Self.clientID),com.example.web", "APPLE_BASE_URL": baseURL,
            "APPLE_PRIVATE_KEY_FILE": path, "SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)",
            "SIWA_API_KEY_HASHES": "backend=\(SettingsReaderTests.hash)",
            "SIWA_PUBLIC_URL": "https://signin.example.com",
            "DATABASE_URL": "sqlite://\(directory)/siwa.sqlite",
        ]
        for (name, value) in changes { environment[name] = value }
        return environment
    }
}
