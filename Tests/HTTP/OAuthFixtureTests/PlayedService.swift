import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import Foundation
import HTTPAPI
import HTTPEngine
import JOSE
import KeySets
import Logging
import NIOCore
import NIOPosix
import OAuth
import SQLiteStorage
import ServiceLifecycle
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

@testable import Composition

/// The whole service with the clients of the fixtures, on a free port and a SQLite database, with a stopped
/// clock. The mint plays Apple and Google.
struct PlayedService: Sendable {
    let deployment: FixtureDeployment
    let store: any ConformingStore
    let clock: ManualClock
    let server: OAuthServer
    let appleKeys: SwitchedKeys
    private let port: Int

    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    static func with<Result: Sendable>(
        _ body: @Sendable (PlayedService) async throws -> Result
    ) async throws -> Result {
        let deployment = try await FixtureDeployment.shared()
        let directory = try TemporaryDirectory()
        let database = try await SQLiteDatabase.open(
            path: directory.path(of: "siwa.sqlite"), sealing: SampleSealing(), logger: .silent)
        do {
            let store: any ConformingStore = database.accounts
            for key in deployment.signingKeys {
                _ = try await store.offerSigningKey(key, unlessMadeAfter: Moment(milliseconds: 0))
            }
            let result = try await run(deployment, store, body)
            await database.close()
            return result
        } catch {
            await database.close()
            throw error
        }
    }

    private static func run<Result: Sendable>(
        _ deployment: FixtureDeployment, _ store: any ConformingStore,
        _ body: @Sendable (PlayedService) async throws -> Result
    ) async throws -> Result {
        let settings = deployment.settings
        let sealingKeys = try #require(settings.sealingKeys)
        let clock = ManualClock(millisecondsSince1970: FixtureDeployment.start.milliseconds)
        let now: @Sendable () -> Moment = { Moment(milliseconds: clock.millisecondsSince1970) }
        let keys = SwitchedKeys(try PinnedKeySet(parsing: TokenMint.shared.keySet))
        let feed = EventFeed()
        let useCases = SignInUseCases(
            deployment: settings.deployment, policy: VerificationPolicy(clientIDs: []), keys: keys,
            store: store, commits: GroupCommit<AccountCommand>(store: store, feed: feed), feed: feed,
            tokenContext: AppleTokenContext(tokens: store, clock: HurriedClock()), nonceKey: .sample(),
            now: now)
        let commits = GroupCommit<GrantCommand>(store: store, feed: feed)
        let server = OAuthServer(
            OAuthDependencies(
                settings: deployment.oauth, deployment: settings.deployment, store: store, commits: commits,
                signIn: useCases,
                keys: SigningKeys(
                    for: deployment.oauth, store: store, sealingKeys: sealingKeys, now: now, logger: .silent),
                googleKeys: keys, googleEventKeys: keys, now: now))
        let web = try #require(try settings.webSignIn(useCases: useCases, tickets: store, now: now))
        let service = HTTPService(
            host: "127.0.0.1", port: 0, limits: limits,
            dependencies: HTTPService.Dependencies(
                useCases: useCases, keys: keys, store: store, callers: deployment.callers,
                registry: MetricsRegistry(), sink: LogSink { _ in }, version: "0.0.1-test",
                now: { clock.millisecondsSince1970 }, web: web, oauth: server,
                authorize: AuthorizeUseCase(
                    settings: deployment.oauth, store: store, commits: commits,
                    keys: server.dependencies.keys, web: web, sealingKeys: sealingKeys, now: now)),
            logger: .silent)
        let group = ServiceGroup(services: [service], logger: .silent)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let played = PlayedService(
                deployment: deployment, store: store, clock: clock, server: server, appleKeys: keys,
                port: try await service.boundPort())
            let result: Result
            do { result = try await body(played) } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        }
    }

    /// The limits of the service, without rejections for overload, which a test build reaches sooner.
    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.admission.target = .seconds(60)
        limits.admission.notificationTarget = .seconds(60)
        return limits
    }

    /// Sends one request, byte for byte, on a connection of its own.
    func send(
        _ method: String, _ target: String, _ fields: [String: String] = [:], body: String? = nil
    ) async throws -> PlayedResponse {
        var fields = fields
        fields["Host"] = "accounts.example.com"
        fields["Connection"] = "close"
        if let body { fields["Content-Length"] = String(body.utf8.count) }
        let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
        let request = "\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")"
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var received: [UInt8] = []
            for try await part in inbound { received.append(contentsOf: part.readableBytesView) }
            return try PlayedResponse(received)
        }
    }
}

/// Keys that can be removed, as in an outage of Apple.
final class SwitchedKeys: VerificationKeys {
    private let keys: any VerificationKeys
    private let isAway = Mutex(false)

    init(_ keys: any VerificationKeys) { self.keys = keys }

    func takeAway() { isAway.withLock { $0 = true } }

    func cachedKey(for keyID: String) -> RSAPublicKey? {
        isAway.withLock { $0 } ? nil : keys.cachedKey(for: keyID)
    }

    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        guard !isAway.withLock({ $0 }) else { throw KeySetError(.keysUnavailable) }
        return try await keys.key(for: keyID)
    }

    var health: KeySetHealth { keys.health }
}

/// A user at Apple, and the events of the user's account. All events go through the service, except the
/// results of its daily check.
struct PlayedUser: Sendable {
    static let team = "FXTEAM0001"

    let service: PlayedService
    /// The app's primary client ID.
    let app: String

    func identityToken(
        authenticatedAt: Moment? = nil, _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let now = service.now.milliseconds / 1000
        var claims = TokenMint.identityClaims(at: now)
        claims["aud"] = .string(app)
        claims["auth_time"] = .integer(authenticatedAt.map { $0.milliseconds / 1000 } ?? now)
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    /// Returns the account's ID.
    @discardableResult
    func signIn(_ token: String? = nil) async throws -> String {
        let token = try token ?? identityToken()
        let response = try await service.call("POST", "/v1/sign-ins", ["identity_token": token])
        #expect(response.status == 200 || response.status == 201, "\(response.text)")
        let account = try #require(try response.object()["account"] as? [String: any Sendable])
        return try #require(account["id"] as? String)
    }

    /// Signs in with a code that is exchanged for a refresh token of Apple.
    func signInWithRefreshToken() async throws -> String {
        try await service.store.hold(key: try key(), clientID: try clientID(), authorizedAt: service.now).id
            .rawValue
    }

    /// Rejects Apple's refresh token, as the daily check does.
    func rejectRefreshToken(of account: String) async throws {
        let receipt = try await service.store.reject(
            RejectionCommand(
                key: key(), accountID: try #require(AccountID(account)), clientID: clientID(),
                primaryClientID: clientID(), tokenID: .sample(1), moment: service.now))
        #expect(receipt == .revoked)
    }

    /// Sends a notification of Apple: consent withdrawn, or Apple Account deleted.
    func notify(_ type: String) async throws {
        let now = service.now.milliseconds / 1000
        var claims = TokenMint.notificationClaims(type: type, at: now)
        claims["aud"] = .string(app)
        claims["jti"] = .string("jti-\(type)-\(now)")
        let response = try await service.call(
            "POST", "/v1/apple/notifications", ["payload": try TokenMint.shared.sign(claims)])
        #expect(response.status == 200, "\(response.text)")
    }

    func erase(_ account: String) async throws {
        let response = try await service.call("DELETE", "/v1/accounts/\(account)")
        #expect([200, 202].contains(response.status), "\(response.text)")
    }

    private func key() throws -> SubjectKey {
        SubjectKey(
            team: try #require(TeamID(Self.team)), subject: try #require(AppleSubject(TokenMint.subject)))
    }

    private func clientID() throws -> ClientID { try #require(ClientID(app)) }
}

extension PlayedService {
    /// Makes a call of the app's backend.
    ///
    /// - Parameter caller: The app of its API key; `nil` for all apps.
    func call(
        _ method: String, _ path: String, _ members: [String: String]? = nil, caller: String? = nil
    ) async throws -> PlayedResponse {
        var fields = ["Authorization": "Bearer \(FixtureDeployment.secret(of: caller))"]
        guard let members else { return try await send(method, path, fields) }
        fields["Content-Type"] = "application/json"
        let body = try JSONSerialization.data(withJSONObject: members)
        return try await send(method, path, fields, body: String(decoding: body, as: UTF8.self))
    }

    /// Posts a form.
    func post(_ path: String, _ parameters: [String: String], _ fields: [String: String] = [:]) async throws
        -> PlayedResponse
    {
        let body = parameters.map { "\($0.key)=\(Self.encode($0.value))" }.joined(separator: "&")
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        return try await send("POST", path, type.merging(fields) { $1 }, body: body)
    }

    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
