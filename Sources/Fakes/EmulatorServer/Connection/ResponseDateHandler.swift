import Encodings
import NIOCore
import NIOHTTP1

/// Sets the field `Date` of responses (RFC 9110, section 6.6.1) by the clock of the emulator.
///
/// Hummingbird writes the machine's time after the last middleware, so only a handler of the channel can.
final class ResponseDateHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let now: @Sendable () -> Int64

    private init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// Call it on the event loop, when the channel has its HTTP handlers.
    static func add(to channel: any Channel, now: @escaping @Sendable () -> Int64) throws {
        let pipeline = channel.pipeline.syncOperations
        let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
        try pipeline.addHandler(Self(now: now), position: .after(encoder))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        head.headers.replaceOrAdd(name: "Date", value: HTTPDate.text(secondsSince1970: now() / 1000))
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
