import AppleAccounts
import AppleEmulator
import AppleIDClient
import Cryptography
import EmulatorServer
import Foundation
import Logging
import ServiceLifecycle
import SiwaBinary
import TestSupport

@testable import Composition
@testable import siwa

/// A database on disk with accounts in it.
enum StoredAccounts {
    static let now = Moment(seconds: 1_700_000_000)

    /// Opens or creates the database like the service, during a call.
    static func with<Result>(
        _ directory: String, keys: SealingKeyRing? = nil, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result { try await with(url: "sqlite://\(directory)/siwa.sqlite", keys: keys, body) }

    /// Opens or creates a database of either kind like the service, during a call.
    static func with<Result>(
        url: String, keys: SealingKeyRing? = nil, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result {
        var environment = SettingsReaderTests.minimal
        environment["DATABASE_URL"] = url
        var settings = try await SettingsReader.read(environment: environment)
        settings.sealingKeys = keys
        try await settings.openDatabase(logger: .silent).close()
        return try await OpenedDatabase.with(settings, body)
    }

    /// Signs in these users.
    ///
    /// - Parameter code: Code of each sign-in. The store must be open with keys.
    static func signIn(
        _ subjects: [String], team: String = RunningApple.team, clientID: String = RunningApple.clientID,
        code: String? = nil, in store: any ServiceStore
    ) async throws {
        let commands = try subjects.map { subject in
            try AccountCommand.signIn(command(subject, team: team, clientID: clientID, code: code))
        }
        for result in try await store.commit(commands).results {
            guard case .done = result else { throw Refused() }
        }
    }

    struct Refused: Error {}

    private static func command(
        _ subject: String, team: String, clientID: String, code: String?
    ) throws -> SignInCommand {
        guard let team = TeamID(team), let clientID = ClientID(clientID), let subject = AppleSubject(subject)
        else { throw Refused() }
        var generator = SystemRandomNumberGenerator()
        let offer = try code.map { code in
            guard let secret = AppleTokenSecret(code) else { throw Refused() }
            return AuthorizationCodeOffer(
                id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: nil,
                expiresAt: now.advanced(byMilliseconds: 300_000), secret: secret)
        }
        return SignInCommand(
            key: SubjectKey(team: team, subject: subject), clientID: clientID, authorizedAt: now,
            authorizationCode: offer, receivedAt: now)
    }
}

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
        var configuration = try EmulatorConfiguration(teamID: team, clientIDs: [clientID, "com.example.web"])
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

/// Runs the built `siwa` as a separate process until it ends, for its text on standard error.
enum CommandProcess {
    static func run(
        _ arguments: [String], _ environment: [String: String], in directory: String
    ) async throws -> ProgramRun {
        try await ProgramRun.of(
            BuiltSiwa.url(), arguments, environment: environment, in: directory, keepsOutput: false)
    }
}

extension ProjectFolder {
    /// The text of a file of the project.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}

extension ProgramRun {
    /// The program has failed, and says why.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: `Failed`, unless the program ended with status 0.
    @discardableResult
    func checked() throws -> ProgramRun {
        guard status == 0 else { throw Failed(description: "status \(status): \(output)") }
        return self
    }
}
