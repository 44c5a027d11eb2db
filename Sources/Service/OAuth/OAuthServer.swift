// OAuth owns the use cases of the authorization server: tokens, App Flip, introspection, events to and from
// Google, and the keys that sign. It knows no HTTP and no SQL. The rules of requests and grants are in
// AuthorizationServer, the users' accounts in AppleAccounts and SignIn.

public import AppleAccounts
public import AuthorizationServer
public import Commits
public import Cryptography
import Encodings
import JOSE
public import KeySets
public import Logging
public import SignIn
import Synchronization

/// State that the use cases share while the service runs. Each use case is a type that holds the server.
public final class OAuthServer: Sendable {
    public let dependencies: OAuthDependencies
    let guessing = Mutex(SecretGuessing())
    let registrations = Mutex(RegistrationPace())
    let deviceRequests = Mutex(
        AddressPace(most: DeviceRequests.mostOfAddress, window: DeviceAuthorization.lifetime))
    let userCodeGuessing = Mutex(UserCodeGuessing())
    let verifier: AccessTokenVerifier

    public init(_ dependencies: OAuthDependencies) {
        self.dependencies = dependencies
        verifier = AccessTokenVerifier(issuer: dependencies.settings.issuer.text)
    }

    /// Returns the addresses that sent a wrong secret of a client
    /// in the last 15 minutes, the most wrong secrets first.
    package func secretGuesses(of client: OAuthClientID) -> [SecretGuesses] {
        let moment = now()
        return guessing.withLock { $0.guesses(of: client, now: moment) }
    }

    var settings: OAuthSettings { dependencies.settings }

    func now() -> Moment { dependencies.now() }

    /// Returns the access token, if this service has issued it for a configured client, and it has not
    /// expired. The store decides whether it is still valid.
    ///
    /// - Throws: `StorageError`.
    func genuineAccessToken(_ text: String) async throws -> AccessToken? {
        guard let unverified = AccessTokenVerifier.Unverified(text),
            let key = try await dependencies.keys.verificationKey(unverified.keyID),
            let token = verifier.verify(unverified, with: key, at: now().milliseconds / 1000),
            let client = settings.clients[token.clientID],
            // Refuses tokens issued before the client's audience or algorithm changed.
            client.audience.isByteEqual(to: token.audience),
            client.accessTokenAlgorithm.signature == key.algorithm
        else { return nil }
        return token
    }
}

/// Dependencies of the use cases of OAuth. Made once by the
/// composition, only for a deployment with OAuth clients.
public struct OAuthDependencies: Sendable {
    /// The section `oauth` of the configuration after all checks.
    public var settings: OAuthSettings
    public var deployment: Deployment
    public var store: any AuthorizationStore
    public var commits: GroupCommit<GrantCommand>
    /// Use cases for App Flip, whose identity token is a sign-in, and for accounts.
    public var signIn: SignInUseCases
    public var keys: SigningKeys
    /// Issuers of Google's tokens.
    public var google: GoogleSettings
    /// The keys of Google's ID tokens (`https://www.googleapis.com/oauth2/v3/certs`).
    public var googleKeys: any VerificationKeys
    /// The keys of Google's security event tokens, from its RISC configuration.
    public var googleEventKeys: any VerificationKeys
    public var now: @Sendable () -> Moment

    public init(
        settings: OAuthSettings, deployment: Deployment, store: any AuthorizationStore,
        commits: GroupCommit<GrantCommand>, signIn: SignInUseCases, keys: SigningKeys,
        google: GoogleSettings = .google, googleKeys: any VerificationKeys,
        googleEventKeys: any VerificationKeys,
        now: @escaping @Sendable () -> Moment
    ) {
        self.settings = settings
        self.deployment = deployment
        self.store = store
        self.commits = commits
        self.signIn = signIn
        self.keys = keys
        self.google = google
        self.googleKeys = googleKeys
        self.googleEventKeys = googleEventKeys
        self.now = now
    }
}

extension SigningKeys {
    /// Makes the keys that the clients of these settings need.
    ///
    /// - Parameter sealingKeys: Seal the private keys at rest. The same in all replicas.
    public convenience init(
        for settings: OAuthSettings, store: any AuthorizationStore, sealingKeys: SealingKeyRing,
        signsEvents: Bool = false, now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        let clients = settings.clients.clients
        var algorithms = Set(
            clients.flatMap { [$0.accessTokenAlgorithm.signature, $0.idTokenAlgorithm.signature] })
        // Events to Google are signed with RS256.
        if clients.contains(where: { $0.googleLinking != nil }) { algorithms.insert(.RS256) }
        // Events to other receivers are signed with ES256.
        if signsEvents { algorithms.insert(.ES256) }
        let longest = clients.map(\.lifetimes.accessToken).max() ?? 0
        self.init(
            store: store, sealingKeys: sealingKeys, algorithms: algorithms,
            schedule: SigningKeySchedule(longestToken: max(longest, TokenMaker.idTokenLifetime) * 1000),
            now: now, logger: logger)
    }
}

extension SigningKeys {
    /// Makes the keys of a service without OAuth clients, which signs events for receivers only.
    ///
    /// - Parameter sealingKeys: Seal the private keys at rest. The same in all replicas.
    public convenience init(
        forEventsIn store: any AuthorizationStore, sealingKeys: SealingKeyRing,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        // A receiver verifies a token when it arrives. No attempt takes as long as an hour.
        self.init(
            store: store, sealingKeys: sealingKeys, algorithms: [.ES256],
            schedule: SigningKeySchedule(longestToken: 3_600_000), now: now, logger: logger)
    }
}

extension TokenAlgorithm {
    var signature: SignatureAlgorithm {
        switch self {
        case .es256: .ES256
        case .rs256: .RS256
        }
    }
}
