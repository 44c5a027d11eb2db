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
    static func with<Result>(_ directory: String, _ body: (any ServiceStore) async throws -> Result)
        async throws -> Result
    {
        try await with(url: "sqlite://\(directory)/siwa.sqlite", body)
    }

    /// The same for a database of either kind.
    static func with<Result>(url: String, _ body: (any ServiceStore) async throws -> Result) async throws
        -> Result
    {
        var environment = SettingsReaderTests.minimal
        environment["DATABASE_URL"] = url
        let settings = try await SettingsReader.read(environment: environment)
        try await settings.openDatabase(logger: .silent).close()
        return try await OpenedDatabase.with(settings, body)
    }

    /// Signs in these users, each with a code that is stored sealed when there are keys.
    static func signIn(
        _ subjects: [String], team: String = RunningApple.team, clientID: String = RunningApple.clientID,
        keys: SealingKeyRing? = nil, in store: any ServiceStore
    ) async throws {
        let commands = try subjects.map { subject in
            try AccountCommand.signIn(command(subject, team: team, clientID: clientID, keys: keys))
        }
        for result in try await store.commit(commands).results {
            guard case .done = result else { throw Refused() }
        }
    }

    struct Refused: Error {}

    private static func command(
        _ subject: String, team: String, clientID: String, keys: SealingKeyRing?
    ) throws -> SignInCommand {
        guard let team = TeamID(team), let clientID = ClientID(clientID), let subject = AppleSubject(subject)
        else { throw Refused() }
        var generator = SystemRandomNumberGenerator()
        let offer = keys.map { keys in
            AuthorizationCodeOffer(
                id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: nil,
                expiresAt: now.advanced(byMilliseconds: 300_000)
            ) { account in
                let data = SealedPurpose.authorizationCode.associatedData(of: account, clientID: clientID)
                guard
                    let sealed = SealedSecret(
                        keys.seal(
                            Array("code".utf8), for: SealingPurpose("authorization_code"),
                            associatedData: data))
                else {
                    preconditionFailure("a short code can be sealed")
                }
                return sealed
            }
        }
        return SignInCommand(
            key: SubjectKey(team: team, subject: subject), clientID: clientID, authorizedAt: now,
            authorizationCode: offer, receivedAt: now)
    }
}
