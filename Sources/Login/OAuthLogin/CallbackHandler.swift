import NIOCore
import NIOHTTP1

/// Responds to one request of a connection to the loopback address, and closes the connection.
final class CallbackHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let reply: @Sendable (CallbackExchange.Request) -> CallbackExchange.Reply
    private let finish: @Sendable (AuthorizationResponse) -> Void
    private let hold: @Sendable (AuthorizationResponse) -> Void
    private var hasReplied = false

    /// - Parameters:
    ///   - reply: Decides about a request.
    ///   - finish: Receives a refusal after its page was sent.
    ///   - hold: Receives a code. The connection stays open until its page is sent.
    init(
        reply: @escaping @Sendable (CallbackExchange.Request) -> CallbackExchange.Reply,
        finish: @escaping @Sendable (AuthorizationResponse) -> Void,
        hold: @escaping @Sendable (AuthorizationResponse) -> Void
    ) {
        (self.reply, self.finish, self.hold) = (reply, finish, hold)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The body is never read: the reply follows the head at once, and then the connection ends.
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

    /// Sends the page, and closes the connection. The future always completes, also when the browser has
    /// closed the connection.
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
