import AppleAccounts
import AppleIDClient
import AppleIdentity
import Cryptography
import Encodings
import SQLiteStorage
import StorageConformance
import StrictJSON
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
