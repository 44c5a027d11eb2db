import NIOCore
import NIOHTTP1

/// The request that is coming in on a connection: its head, and as much of its body as is there.
struct IncomingRequest {
    let head: HTTPRequestHead
    let fields: RequestFields
    let startedAt: NIODeadline
    private var body: ByteBuffer?
    private var share: BodyAllowance.Share?

    init(head: HTTPRequestHead, startedAt: NIODeadline) {
        (self.head, self.startedAt) = (head, startedAt)
        fields = RequestFields(head.headers)
    }

    /// After an upgrade request the decoder reads nothing more, so the connection can serve nothing more.
    var keepsAlive: Bool {
        head.isKeepAlive && head.version == .http1_1 && !fields.wantsUpgrade && head.method != .CONNECT
    }

    /// Whether everybody who reads this request finds the same host and the same body in it.
    var isClear: Bool {
        let isOld = head.version != .http1_1
        // RFC 9112 §3.2: exactly one Host field, with a host in it; HTTP/1.0 could do without.
        guard fields.hostCount == 1 || (isOld && fields.hostCount == 0), fields.isHostValid else {
            return false
        }
        // RFC 9112 §6.1: "chunked" is all that is understood here, applied once, and not in HTTP/1.0.
        return fields.transferCoding == .none || (fields.transferCoding == .chunked && !isOld)
    }

    var bodyBytes: [UInt8] { body.map { Array($0.readableBytesView) } ?? [] }

    /// Returns whether there was room.
    mutating func append(_ bytes: inout ByteBuffer, within allowance: BodyAllowance) -> Bool {
        let size = (body?.readableBytes ?? 0) + bytes.readableBytes
        if size > BodyAllowance.free {
            let share = share ?? BodyAllowance.Share(of: allowance)
            self.share = share
            guard share.grow(to: size - BodyAllowance.free) else { return false }
        }
        if body == nil { body = bytes } else { body?.writeBuffer(&bytes) }
        return true
    }
}
