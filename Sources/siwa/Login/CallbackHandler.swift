import NIOCore
import NIOHTTP1

/// Answers one request of a connection to the loopback address, and closes the connection.
final class CallbackHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let reply: @Sendable (CallbackExchange.Request) -> CallbackExchange.Reply
    private let finish: @Sendable (AuthorizationResponse) -> Void
    private var hasReplied = false

    /// - Parameters:
    ///   - reply: Decides about a request.
    ///   - finish: Gets the answer after its page was sent.
    init(
        reply: @escaping @Sendable (CallbackExchange.Request) -> CallbackExchange.Reply,
        finish: @escaping @Sendable (AuthorizationResponse) -> Void
    ) {
        (self.reply, self.finish) = (reply, finish)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The body is never read: the reply follows the head at once, and then the connection ends.
        guard case .head(let head) = unwrapInboundIn(data), !hasReplied else { return }
        hasReplied = true
        let request = CallbackExchange.Request(
            method: head.method.rawValue, target: head.uri, hosts: head.headers["host"])
        switch reply(request) {
        case .page(let page): send(page, context, isHead: head.method == .HEAD) {}
        case .answer(let page, let answer):
            let finish = finish
            send(page, context, isHead: false) { finish(answer) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(
        _ page: CallbackPage, _ context: ChannelHandlerContext, isHead: Bool,
        then finish: @escaping @Sendable () -> Void
    ) {
        let html = ByteBuffer(string: page.html)
        var headers = HTTPHeaders(page.headers)
        headers.add(name: "Content-Length", value: String(html.readableBytes))
        let head = HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: page.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHead { context.write(wrapOutboundOut(.body(.byteBuffer(html))), promise: nil) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            channel.close(promise: nil)
            finish()
        }
    }
}
