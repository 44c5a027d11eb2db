package import NIOCore
package import NIOHTTP1

/// The request that arrives on a connection: its head, and the part of its body that has arrived.
package struct IncomingRequest {
    package let head: HTTPRequestHead
    package let fields: RequestFields
    package let startedAt: NIODeadline
    private var body: ByteBuffer?
    private var reservation: BodyMemoryBudget.Reservation?

    init(head: HTTPRequestHead, startedAt: NIODeadline) {
        (self.head, self.startedAt) = (head, startedAt)
        fields = RequestFields(head.headers)
    }

    /// After an upgrade request the decoder reads nothing more, so the connection cannot be used for another
    /// request.
    var keepsAlive: Bool {
        head.isKeepAlive && head.version == .http1_1 && !fields.wantsUpgrade && head.method != .CONNECT
    }

    /// True if every reader of this request, such as a proxy, finds the same host and the same body in it.
    var isClear: Bool {
        let isOld = head.version != .http1_1
        // RFC 9112 §3.2: exactly one Host field with a valid host. HTTP/1.0 allows none.
        guard fields.hostCount == 1 || (isOld && fields.hostCount == 0), fields.isHostValid else {
            return false
        }
        // RFC 9112 §6.1: only "chunked" is supported, applied once, and not in HTTP/1.0.
        return fields.transferCoding == .none || (fields.transferCoding == .chunked && !isOld)
    }

    package var bodyBytes: [UInt8] { body.map { Array($0.readableBytesView) } ?? [] }

    /// Returns `false` when the bound of all bodies is reached.
    mutating func append(_ bytes: inout ByteBuffer, within budget: BodyMemoryBudget) -> Bool {
        let size = (body?.readableBytes ?? 0) + bytes.readableBytes
        if size > BodyMemoryBudget.free {
            let reservation = reservation ?? BodyMemoryBudget.Reservation(of: budget)
            self.reservation = reservation
            guard reservation.grow(to: size - BodyMemoryBudget.free) else { return false }
        }
        if body == nil { body = bytes } else { body?.writeBuffer(&bytes) }
        return true
    }
}
