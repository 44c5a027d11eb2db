import AppleAccounts
import Cryptography
import Logging
import SignIn
import TestSupport

@testable import siwa

/// A database on disk with accounts in it.
enum StoredAccounts {
    static let now = Moment(seconds: 1_700_000_000)

    /// Opens or creates the database like the service, during a call.
    static func with<Result>(
        _ directory: String, keys: SealingKeyRing? = nil, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result {
        try await with(url: "sqlite://\(directory)/siwa.sqlite", keys: keys, body)
    }

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
