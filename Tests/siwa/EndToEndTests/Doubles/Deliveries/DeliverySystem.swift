import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SiwaBinary
import StrictJSON
import Synchronization
import TestSupport
import Testing

/// A database, a configuration with receivers, and services as processes of their own.
///
/// The receiver "tokens" gets security event tokens, the others get webhooks.
struct DeliverySystem: Sendable {
    static let tokens = "tokens"

    let database: ObservedDatabase
    let receivers: [(name: String, server: ReceivingServer)]
    /// True if there is a receiver that polls, too.
    let polls: Bool
    let directory: TemporaryDirectory
    private let variables: [String: String]

    static func with<Result>(
        _ store: ObservedDatabase.Store, _ names: [String], polls: Bool = false,
        _ body: (DeliverySystem) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            let database = try await ObservedDatabase.make(store, in: directory)
            var receivers: [(String, ReceivingServer)] = []
            for name in names { receivers.append((name, try await ReceivingServer())) }
            let system = DeliverySystem(
                database: database, receivers: receivers, polls: polls, directory: directory,
                variables: try ServiceProcess.variables(
                    directory, ServiceProcess.signing().merging(["DATABASE_URL": database.url]) { $1 }))
            let result = try await body(system)
            for (_, server) in receivers { try await server.close() }
            return result
        }
    }

    subscript(name: String) -> ReceivingServer {
        get throws { try #require(receivers.first { $0.name == name }).server }
    }

    func serve(replica: String = "a") async throws -> ServiceProcess {
        try await ServiceProcess.serve(directory, try environment(replica))
    }

    /// Runs a command of the operator with the configuration of the service.
    func run(_ arguments: [String]) async throws -> ProgramRun {
        try await BuiltSiwa.run(arguments, try environment("a"), in: directory)
    }

    /// Ends all claims, as if the 30 seconds of the claims of a killed process had passed.
    func endClaims() async throws { try await database.query("UPDATE event_receiver SET not_before = 0") }

    /// Hands out again what a poll got and did not acknowledge, as after a minute.
    func endPolls() async throws {
        try await database.query(
            "UPDATE event_retry SET due_at = 0 WHERE receiver = '\(PollingReceiver.name)'")
    }

    /// The variables of a replica. The path of its requests has its name.
    private func environment(_ replica: String) throws -> [String: String] {
        let secret = try directory.write(
            WebhookSender.secret(Array(repeating: 7, count: 32)) + "\n", to: "secret")
        var webhooks = receivers.map { name, server in
            """
              - name: \(name)
                url: http://127.0.0.1:\(server.port)/\(replica)
                \(name == Self.tokens ? "audience: billing" : "secret_files: [\(secret)]")
            """
        }
        if polls {
            webhooks.append(
                """
                  - name: \(PollingReceiver.name)
                    audience: billing
                    api_key: test
                """)
        }
        let file = """
            webhooks:
            \(webhooks.joined(separator: "\n"))
            \(OAuthSection.phone)

            """
        let path = try directory.write(file, to: "replica-\(replica).yaml")
        return variables.merging(["SIWA_CONFIG": path]) { $1 }
    }
}

/// Writers that sign users in and send Apple's notifications about them, so that each account has several
/// events, one after the other.
final class DeliveryLoad: Sendable {
    private let name: String
    private let backend: @Sendable () -> Backend?
    private let isClosed = Mutex(false)

    /// - Parameter backend: A service that runs; `nil` while none does.
    init(_ name: String, backend: @escaping @Sendable () -> Backend?) {
        (self.name, self.backend) = (name, backend)
    }

    func close() { isClosed.withLock { $0 = true } }

    /// Runs until it is closed, or until each writer has had its users.
    ///
    /// - Parameter pause: Time between two requests of a writer.
    func run(writers: Int, users: Int = .max, pause: Duration = .milliseconds(5)) async {
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    var number = 0
                    while !self.isClosed.withLock({ $0 }), !Task.isCancelled, number < users {
                        await self.story(of: "\(self.name).\(writer).\(number)", pause)
                        number += 1
                    }
                }
            }
        }
    }

    /// The life of one user: six events.
    private func story(of subject: String, _ pause: Duration) async {
        guard let token = try? Minted.token(subject) else { return }
        guard await send({ try await $0.signIn(token) }) else {
            // The service is down, or starts.
            try? await Task.sleep(for: .milliseconds(20))
            return
        }
        let types = ["email-disabled", "email-enabled", "email-disabled", "consent-revoked"]
        for (step, type) in types.enumerated() {
            try? await Task.sleep(for: pause)
            guard !isClosed.withLock({ $0 }),
                let payload = try? Minted.notification(subject, type: type, step: step)
            else { return }
            _ = await send { try await $0.notify(payload) }
        }
    }

    private func send(_ call: (Backend) async throws -> Backend.Response) async -> Bool {
        guard let backend = backend(), let response = try? await call(backend) else { return false }
        return response.status < 300
    }
}

/// A receiver of events on a real socket. It answers as its script says, and records each attempt.
final class ReceivingServer: Sendable {
    enum Answer: Sendable {
        case take(after: TimeAmount)
        case refuse
        /// No answer at all.
        case hang
    }

    typealias Script = @Sendable (_ attempt: Int) -> Answer

    struct Attempt: Sendable {
        let eventID: String
        /// The path of the request, by which a test tells replicas apart.
        let path: String
        /// The body of a webhook, or the claims of a security event token.
        let text: String
        let arrivedAt: ContinuousClock.Instant
        /// Number of beginnings and ends of attempts before this beginning.
        let begin: Int
        /// The same for the end of an attempt that was taken.
        var end: Int?
    }

    struct Record: Sendable {
        var script: Script
        var attempts: [Attempt] = []
        /// Number of beginnings and ends so far.
        var steps = 0
    }

    let port: Int
    private let channel: any Channel
    private let record: Shared<Record>

    init(_ script: @escaping Script = { _ in .take(after: .zero) }) async throws {
        let log = Shared(Record(script: script))
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(ReceivingConnection(log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        record = log
        port = channel.localAddress?.port ?? 0
    }

    var attempts: [Attempt] { record.attempts }
    var count: Int { record.attempts.count }
    private var takenAttempts: [Attempt] { record.attempts.filter { $0.end != nil } }
    var takenCount: Int { takenAttempts.count }
    /// IDs of the events that were taken.
    var taken: Set<String> { Set(takenAttempts.map(\.eventID)) }

    func follow(_ script: @escaping Script) { record.change { $0.script = script } }

    func close() async throws { try await channel.close() }
}

/// One connection of a `ReceivingServer`.
private final class ReceivingConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let record: Shared<ReceivingServer.Record>
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ record: Shared<ReceivingServer.Record>) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let part): body += part.readableBytesView
        case .end: receive(context)
        }
    }

    private func receive(_ context: ChannelHandlerContext) {
        guard let head else { return }
        let (id, text) = Self.event(head, body)
        let now = ContinuousClock.now
        let (index, script) = record.change { state in
            state.attempts.append(
                ReceivingServer.Attempt(
                    eventID: id, path: head.uri, text: text, arrivedAt: now, begin: state.steps))
            state.steps += 1
            return (state.attempts.count - 1, state.script)
        }
        switch script(index) {
        case .hang: return
        case .refuse: answer(.serviceUnavailable, context)
        case .take(let time):
            guard time > .zero else { return take(index, context) }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: time) {
                let (connection, context) = bound.value
                connection.take(index, context)
            }
        }
    }

    private func take(_ index: Int, _ context: ChannelHandlerContext) {
        record.change { state in
            state.attempts[index].end = state.steps
            state.steps += 1
        }
        answer(.noContent, context)
    }

    private func answer(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        var head = HTTPResponseHead(version: .http1_1, status: status)
        if status != .noContent { head.headers.add(name: "Content-Length", value: "0") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Reads the event's ID and what names its user, of both forms.
    private static func event(_ head: HTTPRequestHead, _ body: [UInt8]) -> (id: String, text: String) {
        let text = String(decoding: body, as: UTF8.self)
        if let id = head.headers.first(name: "webhook-id") { return (id, text) }
        let parts = text.split(separator: ".")
        guard parts.count == 3, let claims = Base64URL.decode(String(parts[1])),
            let id = try? JSONValue(parsing: claims)["jti"]?.string
        else { return ("", text) }
        return (id, String(decoding: claims, as: UTF8.self))
    }
}
