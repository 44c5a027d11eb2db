import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import HTTPAPI
import HTTPEngine
import KeySets
import Logging
import NIOCore
import NIOPosix
import OAuth
import ServiceLifecycle
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

@testable import siwa

/// The whole service with the clients of the fixtures, on a free port, with a stopped clock. The mint plays
/// Apple and Google.
struct PlayedService: Sendable {
    let deployment: FixtureDeployment
    let store: any ConformingStore
    let clock: ManualClock
    let server: OAuthServer
    let appleKeys: SwitchedKeys
    private let port: Int

    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    static func with<Result: Sendable>(
        _ storage: PlayedStorage, _ body: @Sendable (PlayedService) async throws -> Result
    ) async throws -> Result {
        let deployment = try await FixtureDeployment.shared()
        return try await storage.with { store in
            for key in deployment.signingKeys {
                _ = try await store.offerSigningKey(key, unlessMadeAfter: Moment(milliseconds: 0))
            }
            return try await run(deployment, store, body)
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
            do {
                result = try await body(played)
            } catch {
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
