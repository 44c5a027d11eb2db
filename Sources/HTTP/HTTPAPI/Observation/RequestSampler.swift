import Synchronization

/// Selects a few of many similar requests for individual log lines, and counts all others. Used for requests
/// without an authenticated caller, and for 503 responses.
///
/// Unauthenticated requests cost the sender nothing, so individual log lines would let any sender fill the
/// disk. An outage could fill the disk too. So the log gets only the first few requests of a kind in each
/// second, and the kind's total at the end of the second. Kinds consist of this service's own codes and
/// routes, so their number is bounded. The sampler reads no clock.
struct RequestSampler {
    /// A kind of request. Requests of the same kind are counted together.
    struct Kind: Hashable {
        let status: UInt
        /// The error code of a refusal, or the route for any other response.
        let name: String
        /// The reason, if the request is a refused token request.
        var reason: String?
    }

    struct Summary: Equatable {
        let kind: Kind
        /// Number of requests in the second, including the logged requests.
        let count: Int
    }

    /// Maximum number of requests logged per second: of one kind, and of all kinds together.
    static let samplesOfKind = 3
    static let samples = 12

    private static let window: Int64 = 1000

    private var beganAt: Int64?
    private var counts: [Kind: Int] = [:]
    private var unlogged: Set<Kind> = []
    private var logged = 0

    /// Returns `true` if this request should be logged.
    mutating func count(_ kind: Kind) -> Bool {
        let count = counts[kind, default: 0] + 1
        counts[kind] = count
        guard count <= Self.samplesOfKind, logged < Self.samples else {
            unlogged.insert(kind)
            return false
        }
        logged += 1
        return true
    }

    /// Returns the summaries of the current second and begins a new second, if the current second is over.
    mutating func advance(to now: Int64) -> [Summary] {
        // Also ends the second if the clock was set back, because the second would otherwise last until the
        // clock has caught up.
        if let beganAt, now >= beganAt, now - beganAt < Self.window { return [] }
        defer { beganAt = now }
        return finish()
    }

    /// Ends the current second, and returns its summaries.
    mutating func finish() -> [Summary] {
        let summaries = unlogged.map { kind in
            Summary(kind: kind, count: counts[kind, default: 0])
        }
        counts.removeAll(keepingCapacity: true)
        unlogged.removeAll(keepingCapacity: true)
        logged = 0
        return summaries.sorted {
            ($0.kind.status, $0.kind.name, $0.kind.reason ?? "")
                < ($1.kind.status, $1.kind.name, $1.kind.reason ?? "")
        }
    }
}

/// Selects the successful requests that get a log line: on average, one in `rate` requests. Refusals and
/// failures always get a log line.
///
/// Decides on each request independently, so that a caller with a regular pattern cannot escape the log. The
/// `sampled` field of each line is its weight, from which readers can compute the total.
final class SuccessSampler: Sendable {
    let rate: Int
    private let counter = Atomic<UInt64>(UInt64.random(in: .min ... .max))

    init(oneOf rate: Int) {
        precondition(rate > 0, "one of 0 requests")
        self.rate = rate
    }

    func isLogged() -> Bool {
        guard rate > 1 else { return true }
        var mixed = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % UInt64(rate) == 0
    }
}
