import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// The HTTP server on a free loopback port that receives the browser's requests (RFC 8252 §7.3).
///
/// The server accepts at most 16 concurrent connections, each for at most 10 seconds and with at most 32 KiB
/// of headers. The connection that sent the code waits up to two minutes for its page.
final class CallbackListener: Sendable {
    private static let mostConnections = 16
    private static let connectionTime = TimeAmount.seconds(10)
    private static let heldTime = TimeAmount.seconds(120)
    private static let longestHeader = 32 * 1024

    private struct State {
        var exchange: CallbackExchange
        var connections = 0
        /// The connection that the browser sent the code on.
        var held: (any Channel)?
    }

    let redirectURI: String
    /// Number of requests so far with another sign-in's `state`.
    var otherStates: Int { state.withLock { $0.exchange.otherStates } }

    private let channel: any Channel
    private let state: Mutex<State>
    private let responses: AsyncStream<AuthorizationResponse>
    private let continuation: AsyncStream<AuthorizationResponse>.Continuation

    /// Listens on 127.0.0.1, or on [::1] if IPv4 is missing. Does not use `localhost`, because it may resolve
    /// to another interface (RFC 8252 §8.3).
    ///
    /// - Parameter path: The redirect URI's path: empty, or beginning with a slash.
    /// - Throws: `.listenFailed` if neither address is available.
    static func open(
        path: String, expecting expectation: AuthorizationResponse.Expectation
    ) async throws(LoginError) -> CallbackListener {
        for host in ["127.0.0.1", "::1"] {
            let pending = PendingListener()
            guard let channel = try? await pending.bind(host: host), let port = channel.localAddress?.port
            else { continue }
            let name = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            let listener = CallbackListener(channel: channel, host: name, path: path, expectation)
            pending.start(listener)
            return listener
        }
        throw LoginError(
            .listenFailed,
            "siwa login cannot listen on 127.0.0.1 and on [::1]; check the network of this machine")
    }

    private init(
        channel: any Channel, host: String, path: String, _ expectation: AuthorizationResponse.Expectation
    ) {
        self.channel = channel
        redirectURI = "http://\(host)\(path)"
        // If the redirect URI has no path, browsers request "/", so the exchange expects this path.
        let exchange = CallbackExchange(
            expectation: expectation, host: host, path: path.isEmpty ? "/" : path)
        state = Mutex(State(exchange: exchange))
        (responses, continuation) = AsyncStream.makeStream()
    }

    /// Waits for the authorization response and returns its code. Throws `.responseMissing` after the time
    /// limit, or the error of a refused response.
    func code(within limit: Duration) async throws(LoginError) -> String {
        let response = await withTaskGroup(of: AuthorizationResponse?.self) { group in
            group.addTask { [responses] in
                for await response in responses { return response }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        switch response {
        case .code(let code): return code
        case .refused(let error): throw error
        case .unrelated, .otherState, nil:
            throw LoginError(
                .responseMissing,
                "the browser has sent no answer within \(limit.components.seconds) seconds; call siwa login again"
            )
        }
    }

    /// Sends the result page to the browser that sent the code. Does nothing if no browser is waiting.
    func show(_ page: CallbackPage) async {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held
        }
        guard let held else { return }
        try? await CallbackHandler.send(page, to: held).get()
    }

    func close() async {
        continuation.finish()
        try? await channel.close()
    }

    /// Handles a new connection. Called on its event loop.
    fileprivate func serve(_ connection: any Channel) -> EventLoopFuture<Void> {
        let isServed = state.withLock { state in
            guard state.connections < Self.mostConnections else { return false }
            state.connections += 1
            return true
        }
        guard isServed else { return connection.close() }
        connection.closeFuture.whenComplete { _ in self.state.withLock { $0.connections -= 1 } }
        // The time limit also ends connections that send nothing or send too slowly.
        let end = connection.eventLoop.scheduleTask(in: Self.connectionTime) {
            connection.close(promise: nil)
        }
        return connection.eventLoop.makeCompletedFuture {
            var limits = NIOHTTPDecoderLimitConfiguration()
            (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (Self.longestHeader, Self.longestHeader)
            limits.maxHeaderFieldCount = 100
            let pipeline = connection.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: limits)
            try pipeline.addHandler(
                CallbackHandler(
                    reply: { request in self.state.withLock { $0.exchange.reply(to: request) } },
                    finish: { self.continuation.yield($0) },
                    hold: { response in
                        end.cancel()
                        connection.eventLoop.scheduleTask(in: Self.heldTime) {
                            connection.close(promise: nil)
                        }
                        self.state.withLock { $0.held = connection }
                        self.continuation.yield(response)
                    }))
        }
    }
}

/// Closes connections that arrive before `open` has created the listener, which needs to know the port.
private final class PendingListener: Sendable {
    private let listener = Mutex<CallbackListener?>(nil)

    func bind(host: String) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 16)
            .childChannelInitializer { connection in
                guard let listener = self.listener.withLock({ $0 }) else { return connection.close() }
                return listener.serve(connection)
            }
            .bind(host: host, port: 0).get()
    }

    func start(_ listener: CallbackListener) { self.listener.withLock { $0 = listener } }
}

/// Responds to a connection's first request to the loopback address, and closes the connection.
final class CallbackHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let reply: @Sendable (CallbackExchange.Request) -> CallbackExchange.Reply
    private let finish: @Sendable (AuthorizationResponse) -> Void
    private let hold: @Sendable (AuthorizationResponse) -> Void
    private var hasReplied = false

    /// - Parameters:
    ///   - reply: Decides how to respond to a request.
    ///   - finish: Receives a refusal after its page has been sent.
    ///   - hold: Receives a code. The connection stays open until its page has been sent.
    init(
        reply: @escaping @Sendable (CallbackExchange.Request) -> CallbackExchange.Reply,
        finish: @escaping @Sendable (AuthorizationResponse) -> Void,
        hold: @escaping @Sendable (AuthorizationResponse) -> Void
    ) {
        (self.reply, self.finish, self.hold) = (reply, finish, hold)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Ignores the body, because the handler replies after the head and then closes the connection.
        guard case .head(let head) = unwrapInboundIn(data), !hasReplied else { return }
        hasReplied = true
        let request = CallbackExchange.Request(
            method: head.method.rawValue, target: head.uri, hosts: head.headers["host"])
        switch reply(request) {
        case .page(let page): Self.send(page, to: context.channel, isHead: head.method == .HEAD)
        case .response(let page, let response):
            let finish = finish
            Self.send(page, to: context.channel).whenComplete { _ in finish(response) }
        case .held(let response): hold(response)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Sends the page, and closes the connection. The future always completes, even if the browser has closed
    /// the connection.
    @discardableResult
    static func send(
        _ page: CallbackPage, to channel: any Channel, isHead: Bool = false
    ) -> EventLoopFuture<Void> {
        let html = ByteBuffer(string: page.html)
        var headers = HTTPHeaders(page.headers)
        headers.add(name: "Content-Length", value: String(html.readableBytes))
        let head = HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: page.status), headers: headers)
        channel.write(OutboundOut.head(head), promise: nil)
        if !isHead { channel.write(OutboundOut.body(.byteBuffer(html)), promise: nil) }
        return channel.writeAndFlush(OutboundOut.end(nil)).always { _ in channel.close(promise: nil) }
    }
}
