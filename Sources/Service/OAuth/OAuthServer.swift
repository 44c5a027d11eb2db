// OAuth owns the authorization server's use cases: tokens, App Flip, introspection, security events from and
// to Google, and signing keys. It depends neither on HTTP nor on SQL. The rules for requests and grants are
// in AuthorizationServer, and user accounts are in AppleAccounts and SignIn.

public import AppleAccounts
public import AuthorizationServer
public import Commits
public import Cryptography
import Encodings
public import JOSE
public import KeySets
public import Logging
public import SignIn
import Synchronization

/// The state that all use cases share while the service runs. Each use case is a type that holds a reference
/// to this server.
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

    /// Returns the addresses that sent wrong secrets for a client in the last 15 minutes, the address with
    /// the most first.
    package func secretGuesses(of client: OAuthClientID) -> [SecretGuesses] {
        let moment = now()
        return guessing.withLock { $0.guesses(of: client, now: moment) }
    }

    var settings: OAuthSettings { dependencies.settings }

    func now() -> Moment { dependencies.now() }

    /// Returns the access token if this service issued it for a configured client and it has not expired. The
    /// caller must check in the store whether the token is still valid.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func genuineAccessToken(_ text: String) async throws -> AccessToken? {
        guard let unverified = AccessTokenVerifier.Unverified(text),
            let key = try await dependencies.keys.verificationKey(unverified.keyID),
            let token = verifier.verify(unverified, with: key, at: now().milliseconds / 1000),
            let client = settings.clients[token.clientID],
            // These conditions refuse tokens that were issued before the client's audience or algorithm
            // changed.
            client.audience.isByteEqual(to: token.audience),
            client.accessTokenAlgorithm.signature == key.algorithm
        else { return nil }
        return token
    }
}

/// The dependencies of the OAuth use cases. The composition makes them once, and only for deployments with
/// OAuth clients.
public struct OAuthDependencies: Sendable {
    /// The configuration's `oauth` section. All values are checked.
    public var settings: OAuthSettings
    public var deployment: Deployment
    public var store: any AuthorizationStore
    public var commits: GroupCommit<GrantCommand>
    /// The sign-in use cases. App Flip uses them because its identity token signs the user in.
    public var signIn: SignInUseCases
    public var keys: SigningKeys
    /// The issuers of Google's tokens.
    public var google: GoogleSettings
    /// The keys for Google's ID tokens (`https://www.googleapis.com/oauth2/v3/certs`).
    public var googleKeys: any VerificationKeys
    /// The keys for Google's security event tokens, from its RISC configuration.
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
    /// Creates the signing keys that the configured clients need.
    ///
    /// - Parameter sealingKeys: Keys that seal the private keys in the database. All replicas need the same
    ///   keys.
    public convenience init(
        for settings: OAuthSettings, store: any AuthorizationStore, sealingKeys: SealingKeyRing,
        signsEvents: Bool = false, makePEM: @escaping MakePEM = TokenSigningKey.makePEM,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        let clients = settings.clients.clients
        var algorithms = Set(
            clients.flatMap { [$0.accessTokenAlgorithm.signature, $0.idTokenAlgorithm.signature] })
        // Reports to Google are signed with RS256.
        if clients.contains(where: { $0.googleLinking != nil }) { algorithms.insert(.RS256) }
        // Events for all other receivers are signed with ES256.
        if signsEvents { algorithms.insert(.ES256) }
        let longest = clients.map(\.lifetimes.accessToken).max() ?? 0
        self.init(
            store: store, sealingKeys: sealingKeys, algorithms: algorithms,
            schedule: SigningKeySchedule(longestToken: max(longest, TokenMaker.idTokenLifetime) * 1000),
            makePEM: makePEM, now: now, logger: logger)
    }
}

extension SigningKeys {
    /// Creates the keys for a service without OAuth clients, which only signs events for receivers.
    ///
    /// - Parameter sealingKeys: Keys that seal the private keys in the database. All replicas need the same
    ///   keys.
    public convenience init(
        forEventsIn store: any AuthorizationStore, sealingKeys: SealingKeyRing,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        // An hour is enough, because a receiver verifies a token on arrival and a delivery attempt is much
        // shorter.
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
