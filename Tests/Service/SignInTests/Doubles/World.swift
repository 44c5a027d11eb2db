import AppleAccounts
import AppleIDClient
import AppleIdentity
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import Logging
import SQLiteStorage
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

@testable import SignIn

/// State that survives a process: a store, Apple, and the time. Apple knows `code`.
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

    init(_ storage: Storage = .memory) async throws {
        // Processes with other keys only open what the first process has stored.
        let key = try #require(Self.key("first"))
        let sealing = AppleTokenSealer(keys: try #require(SealingKeyRing([key])))
        switch storage {
        case .memory: (store, end) = (ReferenceStore(sealing: sealing), {})
        case .sqlite:
            let directory = try TemporaryDirectory()
            let database = try await SQLiteDatabase.open(
                path: directory.path(of: "siwa.sqlite"), sealing: sealing, logger: .silent)
            store = database.accounts
            end = {
                await database.close()
                _ = directory
            }
        }
        apple = ScriptedApple { [wall] in wall.secondsSince1970 }
        apple.know(code: Self.code)
    }

    // A task, because closing waits for the database. The closure keeps the directory until then.
    deinit { Task { [end] in await end() } }

    /// A world with a process that nothing cuts.
    static func running(_ storage: Storage = .memory) async throws -> (World, ServiceRun) {
        let world = try await World(storage)
        return (world, try world.process())
    }

    /// A world in which a process holds a token of the user.
    static func holding(_ storage: Storage = .memory) async throws -> (World, ServiceRun, AccountID) {
        let (world, process) = try await running(storage)
        let id = try await process.signIn().account.id
        await process.exchangeDue()
        #expect(try await world.status() == .held)
        return (world, process, id)
    }

    func pass(_ time: Duration) { wall.advance(by: time) }

    func setNow(_ moment: Moment) { wall.set(to: moment.milliseconds) }

    /// Starts a process on this state.
    func process(
        fuse: Fuse = Fuse(), keys: [String] = ["first"], canSign: Bool = true,
        verification: StubKeys? = nil, perSecond: Double = 25, waits: (any Clock<Duration>)? = nil
    ) throws -> ServiceRun {
        try ServiceRun(
            in: self, fuse: fuse, sealing: SealingKeyRing(keys.compactMap { Self.key($0) }), canSign: canSign,
            keys: verification ?? StubKeys(cached: TokenMint.shared.publicKeys()), perSecond: perSecond,
            waits: waits)
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
        let subject = try #require(AppleSubject(TokenMint.subject))
        return try await store.credentials(team: "A1B2C3D4E5", clientID: clientID, subjects: [subject])[0]
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
    ) { (self.cached, self.fetched, self.failure) = (cached, fetched, failure) }

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

    /// - Parameter events: Events just before erasures, see `MeddlingStore`.
    init(keys: StubKeys? = nil, app: App = Subject.app, before events: [MeddlingStore.Event] = []) throws {
        self.keys = try keys ?? StubKeys(cached: TokenMint.shared.publicKeys())
        let meddling = MeddlingStore(store, before: events)
        commits = GroupCommit<AccountCommand>(store: meddling, feed: feed)
        useCases = SignInUseCases(
            deployment: try Deployment(apps: [app, Self.other, Self.foreign]),
            policy: VerificationPolicy(clientIDs: []), keys: self.keys, store: meddling, commits: commits,
            feed: feed, tokenContext: AppleTokenContext(tokens: store), nonceKey: .sample(),
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) })
    }

    /// Sets the clock to this many seconds after the moment at which sample tokens are signed.
    func setClock(_ seconds: Int64) { clock.set(to: (TokenMint.sampleTime + seconds) * 1000) }

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

/// One run of the service with its workers, which a test drives step by step.
struct ServiceRun: Sendable {
    let world: World
    let useCases: SignInUseCases
    let exchange: ClaimLoop<CodeExchange>
    let check: ClaimLoop<DailyCheck>
    let erasure: ClaimLoop<ErasureWorker>
    let tokenContext: AppleTokenContext
    let commits: GroupCommit<AccountCommand>
    let clock = HurriedClock()

    var grantCheck: TokenResponseCheck {
        TokenResponseCheck(verifier: useCases.identityVerifier, keys: useCases.keys)
    }

    init(
        in world: World, fuse: Fuse, sealing: SealingKeyRing?, canSign: Bool, keys: any VerificationKeys,
        perSecond: Double, waits: (any Clock<Duration>)?
    ) throws {
        self.world = world
        let store = FusedStore(store: world.store, fuse: fuse)
        let apple = FusedApple(apple: world.apple, fuse: fuse)
        let now: @Sendable () -> Moment = { world.now }
        let feed = EventFeed()
        commits = GroupCommit<AccountCommand>(store: store, feed: feed)
        tokenContext = AppleTokenContext(
            tokens: store, sealingKeys: sealing, canSign: { _ in canSign }, clock: waits ?? clock)
        useCases = SignInUseCases(
            deployment: try Deployment(apps: [Subject.app, Subject.other, Subject.foreign]),
            policy: VerificationPolicy(clientIDs: []), keys: keys, store: store, commits: commits,
            feed: feed, tokenContext: tokenContext, nonceKey: .sample(), now: now)
        exchange = ClaimLoop(
            CodeExchange(
                tokenContext: tokenContext, commits: commits, apple: apple,
                check: TokenResponseCheck(verifier: useCases.identityVerifier, keys: keys), now: now,
                logger: .silent))
        check = ClaimLoop(
            DailyCheck(
                tokenContext: tokenContext, commits: commits, apple: apple, perSecond: perSecond, now: now,
                logger: .silent))
        erasure = ClaimLoop(
            ErasureWorker(tokenContext: tokenContext, apple: apple, now: now, logger: .silent))
    }

    @discardableResult
    func signIn(
        code: String? = World.code, redirectURI: String? = nil, _ changes: [String: JSONValue?] = [:]
    ) async throws -> SignInOutcome {
        try await useCases.commitSignIn(
            SignInRequest(
                token: IdentityTokenRequest(
                    identityToken: world.token(code, changes), authorizationCode: code),
                redirectURI: redirectURI),
            allowed: .all)
    }

    /// Signs in users with these numbers, each with a code.
    func signIn(_ numbers: Range<Int>) async throws {
        for number in numbers {
            let (code, subject) = ("code-\(number)", "00000\(number).user")
            world.apple.know(code: code, subject: subject)
            try await signIn(code: code, ["sub": .string(subject)])
        }
    }

    /// Runs one round of each worker: carries out the due work, one piece after the other. Expects that Apple has
    /// been asked so often by then.
    func exchangeDue(asked: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation) async {
        for code in await exchange.claim(16).work { await exchange.perform(code) }
        guard let asked else { return }
        #expect(world.apple.questions.count == asked, sourceLocation: sourceLocation)
    }

    func checkDue(
        _ room: Int = 8, asked: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for token in await check.claim(room).work { await check.perform(token) }
        guard let asked else { return }
        #expect(world.apple.questions(.validate).count == asked, sourceLocation: sourceLocation)
    }

    func eraseDue() async { for token in await erasure.claim(8).work { await erasure.perform(token) } }
}

extension SignInUseCases {
    /// Signs in and returns when the sign-in is durable.
    @discardableResult
    func commitSignIn(_ request: SignInRequest, allowed: AppScope = .all) async throws -> SignInOutcome {
        try await signIn(request, allowed: allowed).value.outcome
    }

    /// Receives a notification and returns when it is durable.
    @discardableResult
    func commitNotification(_ payload: String) async throws -> NotificationReceipt {
        try await receiveNotification(payload: payload).value.receipt
    }
}

/// Counts the lines of a log.
final class CountedLines: Sendable {
    private struct Handler: LogHandler {
        let lines: CountedLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.total.add(1, ordering: .relaxed) }
    }

    private let total = Atomic(0)

    var count: Int { total.load(ordering: .relaxed) }
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
