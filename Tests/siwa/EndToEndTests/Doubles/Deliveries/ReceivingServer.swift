import Encodings
import NIOCore
import NIOHTTP1
import NIOPosix
import StrictJSON

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
