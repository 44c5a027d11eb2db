import NIOCore
import NIOHTTP1

/// The request that is coming in on a connection: its head, and as much of its body as is there.
struct ArrivingRequest {
    let head: HTTPRequestHead
    let fields: RequestFields
    let startedAt: NIODeadline
    private var body: ByteBuffer?

    init(head: HTTPRequestHead, startedAt: NIODeadline) {
        (self.head, self.startedAt) = (head, startedAt)
        fields = RequestFields(head.headers)
    }

    /// After an upgrade request the decoder reads nothing more, so the connection can serve nothing more.
    var keepsAlive: Bool {
        head.isKeepAlive && head.version == .http1_1 && !fields.wantsUpgrade && head.method != .CONNECT
    }

    /// RFC 9112 §3.2: without Host it is not clear who is meant.
    var isClear: Bool { fields.hasHost || head.version != .http1_1 }

    var bodyBytes: [UInt8] { body.map { Array($0.readableBytesView) } ?? [] }

    mutating func append(_ bytes: inout ByteBuffer) {
        if body == nil { body = bytes } else { body?.writeBuffer(&bytes) }
    }
}
