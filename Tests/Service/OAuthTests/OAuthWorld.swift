import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import Logging
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

@testable import OAuth

/// The use cases over a store in memory, with a stopped clock. The mint plays Apple and Google.
struct OAuthWorld: Sendable {
    let store: ReferenceStore
    let clock: ManualClock
    let server: OAuthServer
    let signIn: SignInUseCases
    let app: ClientID
    let team: TeamID

    var settings: OAuthSettings { server.dependencies.settings }
    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    /// - Parameters:
    ///   - earlier: The service before a restart with another configuration. Its store and clock are kept.
    ///   - grants: Takes the commands of grants in place of the store.
    init(
        googleKeys: (any VerificationKeys)? = nil, after earlier: OAuthWorld? = nil,
        grants: (any AuthorizationStore)? = nil,
        _ change: (inout OAuthDraft) -> Void = { _ in }
    ) throws {
        let store = earlier?.store ?? ReferenceStore()
        let clock = earlier?.clock ?? ManualClock(millisecondsSince1970: (TokenMint.sampleTime + 60) * 1000)
        (self.store, self.clock) = (store, clock)
        app = try #require(ClientID(TokenMint.clientID))
        team = TeamID("A1B2C3D4E5")
        let deployment = try Deployment(apps: [App(team: team, primaryClientID: app)])
        let settings = try OAuthSample.settings(in: deployment, app: TokenMint.clientID, change)
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let now: @Sendable () -> Moment = { Moment(milliseconds: clock.millisecondsSince1970) }
        let feed = EventFeed()
        signIn = SignInUseCases(
            deployment: deployment, policy: VerificationPolicy(clientIDs: []), keys: keys, store: store,
            commits: GroupCommit<AccountCommand>(store: store, feed: feed), feed: feed,
            tokenContext: AppleTokenContext(tokens: store, clock: HurriedClock()), nonceKey: .sample(),
            now: now)
        server = OAuthServer(
            OAuthDependencies(
                settings: settings, deployment: deployment, store: store,
                commits: GroupCommit<GrantCommand>(store: grants ?? store, feed: feed),
                signIn: signIn,
                keys: SigningKeys(
                    for: settings, store: store, sealingKeys: try Self.ring(),
                    makePEM: TokenMint.serviceKeys(), now: now,
                    logger: .silent),
                googleKeys: googleKeys ?? keys, googleEventKeys: googleKeys ?? keys, now: now))
    }

    static func ring(_ name: String = "test") throws -> SealingKeyRing {
        let key = try #require(SealingKey(name: name, bytes: SHA256Digest.hash(name).bytes))
        return try #require(SealingKeyRing([key]))
    }

    // Users

    func identityToken(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims = TokenMint.identityClaims()
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    @discardableResult
    func user(_ change: (inout JSONObject) -> Void = { _ in }) async throws -> Account {
        let request = SignInRequest(
            token: IdentityTokenRequest(identityToken: try identityToken(change)),
            user: UserProfile(firstName: "Ada", lastName: "Lovelace"))
        let pending = try signIn.signIn(request, allowed: .all)
        return try await pending.value.outcome.account
    }

    /// Sends a notification of Apple about the user.
    func notify(_ type: String, secondsLater: Int64 = 60) async throws {
        var claims = TokenMint.notificationClaims(type: type, at: TokenMint.sampleTime + secondsLater)
        claims["jti"] = .string("jti-\(type)-\(secondsLater)")
        let pending = try signIn.receiveNotification(payload: try TokenMint.shared.sign(claims))
        _ = try await pending.value
    }

    // Codes and tokens

    func client(_ id: String) throws -> OAuthClient { try #require(settings.clients[id]) }

    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// Issues a code as the authorization endpoint does.
    func code(
        for account: AccountID, client id: String = "shop", uri: String = OAuthSample.shopURI,
        scope: String = "openid profile email offline_access", nonce: String? = "n-0S6",
        challenge: String? = OAuthWorld.challenge
    ) async throws -> String {
        let client = try client(id)
        let code = AuthorizationCodeText(random: SecureRandom.bytes(count: 32))
        var generator = SystemRandomNumberGenerator()
        _ = try await server.dependencies.commits.submit(
            .authorize(
                AuthorizeCommand(
                    accountID: account, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
                    oauthClientID: client.id, clientID: client.app, codeDigest: code.digest,
                    redirectURI: uri,
                    challenge: challenge.map { CodeRecord.StoredChallenge(text: $0, isPlain: false) },
                    scope: scope, nonce: nonce, authenticatedAt: Moment(seconds: TokenMint.sampleTime),
                    moment: now,
                    expiresAt: now.advanced(byMilliseconds: client.lifetimes.code * 1000))))
        return code.text
    }

    func userWithCode() async throws -> (Account, code: String) {
        let account = try await user()
        return (account, try await code(for: account.id))
    }

    /// Signs in a user, who gets the tokens of a code.
    func signedIn() async throws -> (Account, TokenResponse) {
        let (account, code) = try await userWithCode()
        return (account, try await redeem(code))
    }

    static let credentials = [
        "shop": ["client_id": "shop", "client_secret": OAuthSample.shopSecret],
        "desktop": ["client_id": "desktop"],
        "google": ["client_id": "google", "client_secret": OAuthSample.googleSecret],
    ]

    /// Sends a form to the token endpoint.
    func ask(
        _ parameters: [String: String], as client: String = "shop", from address: RequesterAddress? = nil
    ) async throws -> TokenEndpoint.Response {
        let all = (Self.credentials[client] ?? [:]).merging(parameters) { $1 }
        let body = all.map { "\($0)=\(Self.encode($1))" }.joined(separator: "&")
        let request = try UnauthenticatedTokenRequest(
            body: Array(body.utf8), contentType: "application/x-www-form-urlencoded", authorization: nil,
            query: "".utf8)
        let token = try GuardedAuthentication(server)(request.credentials, from: address) {
            () throws(TokenEndpointError) in try request.authenticated(in: settings.clients)
        }
        return try await TokenEndpoint(server).response(token).value
    }

    func tokens(_ parameters: [String: String], as client: String = "shop") async throws -> TokenResponse {
        try await ask(parameters, as: client).tokens
    }

    func redeem(
        _ code: String, as client: String = "shop", uri: String = OAuthSample.shopURI,
        verifier: String? = OAuthWorld.verifier
    ) async throws -> TokenResponse {
        var parameters = ["grant_type": "authorization_code", "code": code, "redirect_uri": uri]
        parameters["code_verifier"] = verifier
        return try await tokens(parameters, as: client)
    }

    func refresh(
        _ token: String?, as client: String = "shop", scope: String? = nil
    ) async throws -> TokenResponse {
        var parameters = ["grant_type": "refresh_token", "refresh_token": token ?? ""]
        parameters["scope"] = scope
        return try await tokens(parameters, as: client)
    }

    /// Links the user with Google.
    func linked(_ account: AccountID) async throws -> TokenResponse {
        let code = try await code(
            for: account, client: "google", uri: OAuthSample.googleURI, scope: "openid devices", nonce: nil,
            challenge: nil)
        return try await redeem(code, as: "google", uri: OAuthSample.googleURI, verifier: nil)
    }

    /// Returns the result of introspection for the app's backend.
    func isActive(_ token: String) async throws -> Bool {
        try await TokenIntrospection(server).description(of: token, for: .apps(.all)) != nil
    }

    static func claims(_ token: String) throws -> JSONValue {
        let segments = try #require(JWSSegments(compact: token))
        return try JSONValue(parsing: segments.payload)
    }

    // Google

    func googleToken(
        sub: String = "g-1", email: String? = "ada@gmail.com", _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        var claims = JSONObject([
            ("iss", .string("https://accounts.google.com")), ("aud", .string(OAuthSample.googleClientID)),
            ("sub", .string(sub)), ("iat", .integer(clock.secondsSince1970)),
            ("exp", .integer(clock.secondsSince1970 + 3600)), ("email_verified", .bool(true)),
        ])
        if let email { claims["email"] = .string(email) }
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    func assert(
        _ intent: String, _ assertion: String, scope: String? = nil
    ) async throws -> TokenEndpoint.Response {
        var parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "intent": intent,
            "assertion": assertion,
        ]
        parameters["scope"] = scope
        return try await ask(parameters, as: "google")
    }

    func securityEvent(
        _ type: String, sub: String = "g-1", jti: String = "set-1",
        _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let subject = JSONObject([
            ("subject_type", .string("iss-sub")), ("iss", .string("https://accounts.google.com/")),
            ("sub", .string(sub)),
        ])
        let event = JSONValue.object(JSONObject([("subject", .object(subject))]))
        var claims = JSONObject([
            ("iss", .string("https://accounts.google.com/")),
            ("aud", .string(OAuthSample.googleClientID)), ("iat", .integer(clock.secondsSince1970)),
            ("jti", .string(jti)),
            ("events", .object(JSONObject([("https://schemas.openid.net/secevent/\(type)", event)]))),
        ])
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    /// The error code of a refused request, or of a refused code or token.
    static func code(of error: (any Error)?) -> OAuthError.Code? {
        (error as? OAuthError)?.code ?? (error as? TokenEndpointError)?.error.code
    }

    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte])
        }.joined()
    }
}

extension TokenEndpoint.Response {
    struct NoTokens: Error {}

    var tokens: TokenResponse {
        get throws {
            guard case .tokens(let tokens) = self else { throw NoTokens() }
            return tokens
        }
    }
}

/// A store that counts the reads of its signing keys.
final class CountingAuthorizationStore: RelayingAuthorizationStore {
    private let behind = ReferenceStore()
    private let count = Mutex(0)
    private let beforeOffer: @Sendable () async -> Void

    /// - Parameter beforeOffer: Runs before a new key is stored.
    init(beforeOffer: @escaping @Sendable () async -> Void = {}) { self.beforeOffer = beforeOffer }

    var grantsBehind: any AuthorizationStore { behind }

    var reads: Int { count.withLock { $0 } }

    func signingKeys() async throws -> [SigningKeyRecord] {
        count.withLock { $0 += 1 }
        return try await behind.signingKeys()
    }

    func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]
    {
        await beforeOffer()
        return try await behind.offerSigningKey(key, unlessMadeAfter: moment)
    }
}

/// A store of grants before whose next transaction something else happens, and is durable.
final class InterruptedGrantStore: RelayingAuthorizationStore {
    let reference: ReferenceStore
    private let interruption = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ reference: ReferenceStore) { self.reference = reference }

    var grantsBehind: any AuthorizationStore { reference }

    /// Makes this happen before the next transaction, and not again.
    func interrupt(_ body: @escaping @Sendable () async throws -> Void) {
        interruption.withLock { $0 = body }
    }

    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        let body = interruption.withLock { interruption in
            defer { interruption = nil }
            return interruption
        }
        guard let body else { return reference.commit(commands, completion: completion) }
        // The queue that commits must not wait for a command of another queue.
        Task {
            do {
                try await body()
                reference.commit(commands, completion: completion)
            } catch {
                completion(.failure(error))
            }
        }
    }
}
