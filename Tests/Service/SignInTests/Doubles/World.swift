import AppleAccounts
import AppleIDClient
import AppleIdentity
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import SQLiteStorage
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import TokenMint

@testable import SignIn

/// State that survives a process: a store, Apple, and the time.
final class World: Sendable {
    enum Storage: String, CaseIterable {
        case memory, sqlite
    }

    static let code = "c0de"
    static let web = "com.example.web"

    let store: any AccountStore & AppleTokenStore
    let apple: ScriptedApple
    private let wall = ManualClock(millisecondsSince1970: (TokenMint.sampleTime + 10) * 1000)
    private let end: @Sendable () async -> Void

    var now: Moment { Moment(milliseconds: wall.millisecondsSince1970) }

    private init(store: any AccountStore & AppleTokenStore, end: @escaping @Sendable () async -> Void) {
        self.store = store
        self.end = end
        apple = ScriptedApple { [wall] in wall.secondsSince1970 }
    }

    static func with<Result: Sendable>(
        _ storage: Storage = .memory, _ body: (World) async throws -> Result
    ) async throws -> Result {
        let world: World
        guard let key = key("first"), let ring = SealingKeyRing([key]) else {
            preconditionFailure("a digest is a key")
        }
        // Processes with other keys only open what the first process has stored.
        let sealing = AppleTokenSealer(keys: ring)
        switch storage {
        case .memory:
            world = World(store: ReferenceStore(sealing: sealing)) {}
        case .sqlite:
            let directory = try TemporaryDirectory()
            let database = try await SQLiteDatabase.open(
                path: directory.path(of: "siwa.sqlite"), sealing: sealing, logger: .silent)
            // The closure keeps the directory.
            world = World(store: database.accounts) { [directory] in
                await database.close()
                _ = directory
            }
        }
        do {
            let result = try await body(world)
            await world.end()
            return result
        } catch {
            await world.end()
            throw error
        }
    }

    func pass(_ time: Duration) {
        wall.advance(by: time)
    }

    func setNow(_ moment: Moment) {
        wall.set(to: moment.milliseconds)
    }

    /// Starts a process on this state.
    func process(
        fuse: Fuse = Fuse(), keys: [String] = ["first"], canSign: Bool = true,
        verification: StubKeys? = nil, perSecond: Double = 25,
        waits: (any Clock<Duration>)? = nil
    ) throws -> ServiceRun {
        let wall = wall
        return try ServiceRun(
            store: FusedStore(store: store, fuse: fuse), apple: FusedApple(apple: apple, fuse: fuse),
            sealing: SealingKeyRing(keys.compactMap { Self.key($0) }), canSign: canSign,
            keys: try verification ?? StubKeys(cached: TokenMint.shared.publicKeys()), perSecond: perSecond,
            waits: waits
        ) { Moment(milliseconds: wall.millisecondsSince1970) }
    }

    static func key(_ name: String) -> SealingKey? {
        SealingKey(name: name, bytes: SHA256Digest.hash(name).bytes)
    }

    /// An identity token of now with the `c_hash` of a code.
    func token(_ code: String?, _ changes: [String: JSONValue?] = [:]) throws -> String {
        var claims = TokenMint.identityClaims(at: now.milliseconds / 1000)
        if let code {
            claims["c_hash"] = .string(Base64URL.encode(SHA256Digest.hash(code).prefix(16)))
        }
        for (name, value) in changes { claims[name] = value }
        return try TokenMint.shared.sign(claims)
    }

    /// Status of the user's refresh token for callers.
    func status(_ clientID: ClientID = "com.example.app") async throws -> RefreshTokenStatus? {
        try await credential(clientID).refreshToken
    }

    func credential(_ clientID: ClientID = "com.example.app") async throws -> Credential {
        guard let subject = AppleSubject(TokenMint.subject) else { preconditionFailure("a subject") }
        let credentials = try await store.credentials(
            team: "A1B2C3D4E5", clientID: clientID, subjects: [subject])
        return credentials[0]
    }
}

/// Keys that are present, keys that need a fetch, or no keys. Counts the requested fetches.
final class StubKeys: VerificationKeys {
    private let cached: [String: RSAPublicKey]
    private let fetched: [String: RSAPublicKey]
    private let failure: KeySetError.Code
    private let fetches = Mutex(0)
    private let lookups = Mutex(0)

    init(
        cached: [String: RSAPublicKey] = [:], fetched: [String: RSAPublicKey] = [:],
        failure: KeySetError.Code = .unknownKey
    ) {
        (self.cached, self.fetched, self.failure) = (cached, fetched, failure)
    }

    var fetchCount: Int { fetches.withLock { $0 } }
    /// Number of key look-ups; every verification does one.
    var lookupCount: Int { lookups.withLock { $0 } }

    func cachedKey(for keyID: String) -> RSAPublicKey? {
        lookups.withLock { $0 += 1 }
        return cached[keyID]
    }

    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        fetches.withLock { $0 += 1 }
        guard let key = fetched[keyID] else { throw KeySetError(failure) }
        return key
    }

    var health: KeySetHealth { preconditionFailure("no test asks for it") }
}

extension TokenMint {
    /// The mint's public key, by its ID.
    func publicKeys() throws -> [String: RSAPublicKey] {
        let set = try JSONWebKeySet(parsing: keySet)
        guard let key = set.key(for: keyID) else { return [:] }
        return [keyID: key]
    }
}

/// The use cases over a store in memory, with Apple's key and a manual clock.
final class Subject: Sendable {
    static let app = App(
        team: "A1B2C3D4E5", primaryClientID: "com.example.app", otherClientIDs: ["com.example.web"])
    static let other = App(team: "A1B2C3D4E5", primaryClientID: "com.example.other")
    static let foreign = App(team: "OTHERTEAM1", primaryClientID: "org.example.app")

    let store = ReferenceStore()
    let feed = EventFeed()
    let keys: StubKeys
    let commits: GroupCommit<AccountCommand>
    let useCases: SignInUseCases
    private let clock = ManualClock(millisecondsSince1970: (TokenMint.sampleTime + 10) * 1000)

    init(keys: StubKeys? = nil, nonceLifetime: Duration = .seconds(600), app: App = Subject.app) throws {
        self.keys = try keys ?? StubKeys(cached: TokenMint.shared.publicKeys())
        commits = GroupCommit<AccountCommand>(store: store, feed: feed)
        useCases = SignInUseCases(
            deployment: try Deployment(apps: [app, Self.other, Self.foreign]),
            policy: VerificationPolicy(clientIDs: []), keys: self.keys, store: store, commits: commits,
            feed: feed, tokenContext: AppleTokenContext(tokens: store), nonceKey: .sample(),
            nonceLifetime: nonceLifetime,
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) })
    }

    /// Sets the clock to this many seconds after the moment at which sample tokens are signed.
    func setClock(_ seconds: Int64) {
        clock.set(to: (TokenMint.sampleTime + seconds) * 1000)
    }

    /// A valid token, issued this many seconds after the sample moment, with changed claims.
    static func token(_ seconds: Int64 = 0, _ changes: [String: JSONValue?] = [:]) throws -> String {
        var claims = TokenMint.identityClaims(at: TokenMint.sampleTime + seconds)
        for (name, value) in changes { claims[name] = value }
        return try TokenMint.shared.sign(claims)
    }

    static func notification(
        _ type: String = "consent-revoked", at seconds: Int64 = 0, jti: String? = "jti-1",
        _ changes: [String: JSONValue?] = [:]
    ) throws -> String {
        let time = TokenMint.sampleTime + seconds
        var claims = TokenMint.notificationClaims(type: type, at: time)
        claims["jti"] = jti.map { .string($0) }
        for (name, value) in changes { claims[name] = value }
        return try TokenMint.shared.sign(claims)
    }

    @discardableResult
    func signIn(
        _ seconds: Int64 = 0, _ changes: [String: JSONValue?] = [:], nonce: String? = nil,
        user: UserProfile? = nil, createsAccount: Bool = true, allowed: AppScope = .all
    ) async throws -> SignInOutcome {
        let token = try Self.token(seconds, changes)
        return try await useCases.commitSignIn(
            SignInRequest(
                token: IdentityTokenRequest(identityToken: token, nonce: nonce), user: user,
                createsAccount: createsAccount),
            allowed: allowed)
    }
}
