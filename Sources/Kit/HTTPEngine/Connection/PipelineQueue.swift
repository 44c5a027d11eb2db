import NIOCore
import NIOHTTP1

/// Pipelined input (RFC 9112 §9.3.2): bytes that were read from a connection and have to wait for the
/// response before them.
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
