package import NIOCore
package import NIOHTTP1
import Synchronization

/// A request that arrives on a connection: its head, and the part of its body that has arrived.
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

    /// False after an upgrade request: the decoder reads nothing more, so
    /// the connection cannot carry another request.
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

    /// Appends bytes to the body. Returns false when the bound of all bodies is reached.
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

/// Bounds the memory that all connections together use for incomplete bodies.
///
/// The first bytes of a body are not counted, so that usual requests neither touch the shared count nor are
/// refused because of it. Without the bound some thousand clients without an API key could make the service
/// hold 64 KiB for each of them.
final class BodyMemoryBudget: Sendable {
    /// Number of bytes of a body that are not counted.
    static let free = 8 * 1024

    private let most: Int
    private let held = Atomic<Int>(0)

    init(most: Int) {
        self.most = most
    }

    /// The memory of one body beyond the bytes that are not counted. It
    /// is released when this object is deallocated.
    final class Reservation {
        private let budget: BodyMemoryBudget
        private var size = 0

        init(of budget: BodyMemoryBudget) {
            self.budget = budget
        }

        deinit {
            budget.held.wrappingSubtract(size, ordering: .relaxed)
        }

        /// Reserves more memory. Returns false when the bound is reached.
        func grow(to newSize: Int) -> Bool {
            guard newSize > size else { return true }
            let growth = newSize - size
            guard budget.held.wrappingAdd(growth, ordering: .relaxed).newValue <= budget.most else {
                budget.held.wrappingSubtract(growth, ordering: .relaxed)
                return false
            }
            size = newSize
            return true
        }
    }
}

/// Pipelined input (RFC 9112 §9.3.2): bytes that were read from a
/// connection and wait for the response before them.
///
/// Reading stops while input waits, so the queue holds one read at most. But one read can contain hundreds of
/// requests, and each takes some twenty times its bytes in memory. Past a bound the rest is dropped, and the
/// connection closes after the requests that wait.
struct PipelineQueue {
    enum Input {
        case part(HTTPServerRequestPart)
        case inputEnded
        case refused(RequestRefusal)
    }

    private let mostRequests: Int
    private var arrivals = CircularBuffer<Input>()
    private var requests = 0
    private var isClosed = false

    init(mostRequests: Int) {
        self.mostRequests = mostRequests
    }

    var isEmpty: Bool { arrivals.isEmpty }

    mutating func append(_ arrival: Input) {
        guard !isClosed else { return }
        switch arrival {
        case .part(.head):
            guard requests < mostRequests else {
                return append(.refused(.overloaded))
            }
            requests += 1
        case .part(.body(var bytes)):
            // A body in chunks of one byte would be hundreds of parts.
            if case .part(.body(var body)) = arrivals.last {
                arrivals.removeLast()
                body.writeBuffer(&bytes)
                return arrivals.append(.part(.body(body)))
            }
        // Nothing is read after a refusal.
        case .refused: isClosed = true
        case .part(.end), .inputEnded: break
        }
        arrivals.append(arrival)
    }

    mutating func popFirst() -> Input? {
        let arrival = arrivals.popFirst()
        if case .part(.head) = arrival { requests -= 1 }
        return arrival
    }

    mutating func removeAll() {
        arrivals.removeAll()
        requests = 0
    }
}
