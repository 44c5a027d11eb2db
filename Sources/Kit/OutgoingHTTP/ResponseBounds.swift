// OutgoingHTTP owns the response limits that every HTTP client of this program applies to every request. It
// does not make requests, and does not own servers or its callers' errors.

public import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension HTTPClient.Configuration {
    /// Limits the bytes that a server can send in addition to its response bodies. It allows only HTTP/1.1,
    /// because the limits do not work with other versions. The code that reads a body limits the body.
    ///
    /// Without these limits, a server that sends `100 Continue` endlessly would keep a core busy until the
    /// request's time limit.
    public mutating func boundResponses() {
        httpVersion = .http1Only
        // AsyncHTTPClient provides this hook for debugging. It is called once for each connection, before the
        // first request.
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

/// Error for a response with more bytes outside its body than any server has reason to send.
public struct UnboundedResponse: Error, Sendable, CustomStringConvertible {
    public let description =
        "more than \(ResponseSize.mostInterim) interim responses, or more than "
        + "\(ResponseSize.mostBytes) bytes beside the body"
}

/// Counts the parts of a response besides its body: interim responses (RFC 9110 §15.2), header and trailer
/// fields, and chunk framing. It does no I/O.
final class ResponseSize {
    /// Limit on interim responses before the final response. Servers send one or two.
    static let mostInterim = 16
    /// Limit on the bytes outside the body. Real headers are smaller than 8 KiB, and for a body in 1-KiB
    /// chunks, the framing adds less than 1%.
    static let mostBytes = 65_536

    private var bytes = 0
    private var interim = 0

    var isExceeded: Bool { bytes > Self.mostBytes || hasTooManyInterim }
    /// True if there are too many interim responses. A single read can contain thousands.
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

/// Counts bytes before they reach the decoder, because the decoder would buffer an endless header.
private final class ResponseByteHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let size: ResponseSize

    init(_ size: ResponseSize) { self.size = size }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !size.isExceeded else { return }
        size.received(bytes: unwrapInboundIn(data).readableBytes)
        // `ResponsePartHandler` later subtracts the bytes that belong to the body.
        context.fireChannelRead(data)
        guard size.isExceeded else { return }
        context.fireErrorCaught(UnboundedResponse())
        context.close(promise: nil)
    }
}

/// Counts the parts that the decoder has recognized.
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
