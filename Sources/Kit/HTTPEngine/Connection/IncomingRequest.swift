package import NIOCore
package import NIOHTTP1
import Synchronization

/// A request arriving on a connection: its head, and the part of its body received so far.
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

    /// False, for example, after an upgrade request, because the decoder then reads no more requests from the
    /// connection.
    var keepsAlive: Bool {
        head.isKeepAlive && head.version == .http1_1 && !fields.wantsUpgrade && head.method != .CONNECT
    }

    /// True if all recipients of this request, such as proxies, agree on its host and its body.
    var isClear: Bool {
        let isOld = head.version != .http1_1
        // RFC 9112 §3.2: HTTP/1.1 requires exactly one `Host` header with a valid host. HTTP/1.0 allows none.
        guard fields.hostCount == 1 || (isOld && fields.hostCount == 0), fields.isHostValid else {
            return false
        }
        // RFC 9112 §6.1: the service supports only "chunked", once, and not in HTTP/1.0.
        return fields.transferCoding == .none || (fields.transferCoding == .chunked && !isOld)
    }

    package var bodyBytes: [UInt8] { body.map { Array($0.readableBytesView) } ?? [] }

    /// Appends bytes to the body. Returns false if the bodies together have reached their memory limit.
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

/// Limits the memory that all connections together use for incomplete bodies.
///
/// The first bytes of each body are not counted, so the limit never refuses ordinary requests, and these do
/// not touch the shared counter. Without the limit, a few thousand clients without an API key could make the
/// service hold 64 KiB for each of them.
final class BodyMemoryBudget: Sendable {
    /// The number of bytes in each body that are not counted.
    static let free = 8 * 1024

    private let most: Int
    private let held = Atomic<Int>(0)

    init(most: Int) {
        self.most = most
    }

    /// The part of the budget that one body uses: its size minus the first `free` bytes. Returned to the
    /// budget when this object is deallocated.
    final class Reservation {
        private let budget: BodyMemoryBudget
        private var size = 0

        init(of budget: BodyMemoryBudget) {
            self.budget = budget
        }

        deinit {
            budget.held.wrappingSubtract(size, ordering: .relaxed)
        }

        /// Reserves more memory. Returns false if the bodies together have reached their limit.
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

/// Pipelined input (RFC 9112 §9.3.2): it has been read from a connection, and waits for earlier responses.
///
/// The connection does not read while input waits, so the queue holds at most one read. But one read can
/// contain hundreds of requests, each of which uses about twenty times its size in memory. So the queue drops
/// input beyond a limit, and the connection closes after the waiting requests.
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
            // Without this merge, a body in one-byte chunks would become hundreds of parts.
            if case .part(.body(var body)) = arrivals.last {
                arrivals.removeLast()
                body.writeBuffer(&bytes)
                return arrivals.append(.part(.body(body)))
            }
        // The connection reads no input after a refusal.
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
