// OutgoingHTTP owns what every HTTP client of this program refuses of a server, whatever it asks for. It makes no
// request, and knows no server and no error of its users.

public import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension HTTPClient.Configuration {
    /// Bounds what a server can send beside the bodies of its responses, and speaks HTTP/1.1 alone, for which the
    /// bounds are. The body is bounded by its reader.
    ///
    /// Without them a server that sends `100 Continue` without end keeps a core busy until the time limit of the
    /// request.
    public mutating func boundResponses() {
        httpVersion = .http1Only
        // The name is the client's: called once for each connection, before its first request.
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

/// A response with more around its body than a server has reason to send.
public struct UnboundedResponse: Error, Sendable, CustomStringConvertible {
    public let description =
        "more than \(ResponseSize.mostInterim) interim responses, or more than "
        + "\(ResponseSize.mostBytes) bytes beside the body"
}

/// Counts what belongs to one response and is not its body: interim responses (RFC 9110 §15.2), header and trailer
/// fields, and the framing of chunks. Does no I/O.
final class ResponseSize {
    /// Number of interim responses before the final one. Servers send one or two.
    static let mostInterim = 16
    /// Real headers have less than 8 KiB. The framing of a body in chunks of 1 KiB takes less than 1% of it.
    static let mostBytes = 65_536

    private var bytes = 0
    private var interim = 0

    var isExceeded: Bool { bytes > Self.mostBytes || hasTooManyInterim }
    /// One read can have thousands of interim responses.
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

/// Counts bytes before the decoder, which keeps a header that never ends.
private final class ResponseByteHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let size: ResponseSize

    init(_ size: ResponseSize) { self.size = size }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !size.isExceeded else { return }
        size.received(bytes: unwrapInboundIn(data).readableBytes)
        // The decoder takes what belongs to the body off the count.
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
