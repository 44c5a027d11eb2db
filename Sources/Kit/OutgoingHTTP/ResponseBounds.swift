// OutgoingHTTP owns the bounds of every HTTP client of this program on a server's response, whatever the
// request. It makes no request, and knows no server and no error of its users.

public import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension HTTPClient.Configuration {
    /// Bounds the bytes that a server can send in addition to the bodies of its responses, and allows only
    /// HTTP/1.1, to which the bounds apply. The reader of the body bounds the body.
    ///
    /// Without these bounds a server that sends `100 Continue` without end keeps a
    /// core busy until the time limit of the request.
    public mutating func boundResponses() {
        httpVersion = .http1Only
        // The client names this hook; it calls the hook once for each connection, before its first request.
        http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.submit {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                let size = ResponseSize()
                try pipeline.addHandler(ResponseByteHandler(size), position: .before(decoder))
                try pipeline.addHandler(ResponsePartHandler(size), position: .after(decoder))
            }
        }
    }
}

/// A response with more bytes around its body than a server has reason to send.
public struct UnboundedResponse: Error, Sendable, CustomStringConvertible {
    public let description =
        "more than \(ResponseSize.mostInterim) interim responses, or more than "
        + "\(ResponseSize.mostBytes) bytes beside the body"
}

/// Counts the parts of a response outside its body: interim responses (RFC 9110 §15.2), header and trailer
/// fields, and the framing of chunks. Does no I/O.
final class ResponseSize {
    /// Largest number of interim responses before the final response. Servers send one or two.
    static let mostInterim = 16
    /// Largest number of bytes. Real headers have less than 8 KiB. The framing of a body in
    /// chunks of 1 KiB takes less than 1% of the body.
    static let mostBytes = 65_536

    private var bytes = 0
    private var interim = 0

    var isExceeded: Bool { bytes > Self.mostBytes || hasTooManyInterim }
    /// True if there are too many interim responses. One read can have thousands.
    var hasTooManyInterim: Bool { interim > Self.mostInterim }

    func received(bytes count: Int) { bytes += count }

    func received(_ part: HTTPClientResponsePart) {
        switch part {
        case .head(let head):
            if head.status.code < 200 { interim += 1 }
        case .body(let body): bytes -= body.readableBytes
        case .end: (bytes, interim) = (0, 0)
        }
    }
}

/// Counts bytes before they reach the decoder, which keeps a header that never ends.
private final class ResponseByteHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let size: ResponseSize

    init(_ size: ResponseSize) { self.size = size }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !size.isExceeded else { return }
        size.received(bytes: unwrapInboundIn(data).readableBytes)
        // The decoder subtracts the bytes of the body from the count.
        context.fireChannelRead(data)
        guard size.isExceeded else { return }
        context.fireErrorCaught(UnboundedResponse())
        context.close(promise: nil)
    }
}

/// Counts the parts that the decoder has found.
private final class ResponsePartHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private let size: ResponseSize

    init(_ size: ResponseSize) { self.size = size }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        size.received(unwrapInboundIn(data))
        guard !size.hasTooManyInterim else { return }
        context.fireChannelRead(data)
    }
}
