import Synchronization

/// Chooses the requests with their own log line among many similar requests, and counts the other requests.
/// Used for requests without an authenticated caller, and for responses with 503.
///
/// Unauthenticated requests cost their sender nothing, so a line for each would let any
/// sender fill the disk, and so would an outage. In each second the first few requests
/// of a kind are logged, and their total follows at the end of the second. Kinds consist
/// of this service's own codes and routes, so their number is bounded. Reads no clock.
struct RequestSampler {
    /// A kind of requests that are counted together.
    struct Kind: Hashable {
        let status: UInt
        /// The code of a refusal, or the route of a response.
        let name: String
        /// The reason of a refused token request.
        var reason: String?
    }

    struct Summary: Equatable {
        let kind: Kind
        /// Number of requests of the second, including the logged requests.
        let count: Int
    }

    /// Largest numbers of logged requests in a second, of a kind and of all kinds together.
    static let samplesOfKind = 3
    static let samples = 12

    private static let window: Int64 = 1000

    private var beganAt: Int64?
    private var counts: [Kind: Int] = [:]
    private var unlogged: Set<Kind> = []
    private var logged = 0

    /// Returns `true` if this request is logged.
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

    /// Begins a new second when the current second is over, and returns the summaries of the ended second.
    mutating func advance(to now: Int64) -> [Summary] {
        // After the clock was set back, the current second must not last until the clock has caught up.
        if let beganAt, now >= beganAt, now - beganAt < Self.window { return [] }
        defer { beganAt = now }
        return finish()
    }

    /// Ends the current second.
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

/// Chooses the successful requests that have a log line: one of
/// `rate` on average. Refusals and failures always have a line.
///
/// Decides on each request independently, so that a caller with a regular pattern
/// is included. Weighting each line by its field `sampled` restores the count.
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
