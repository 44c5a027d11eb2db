/// Decides which requests without a caller get a log line of their own, and counts the others.
///
/// Such requests cost their sender nothing, so that a line for each would let anybody fill a disk. In each second the
/// first few of a kind are logged; how many there were follows when the second is over. Kinds are made of this
/// service's own codes and routes, so that their number is bounded. Reads no clock.
struct AnonymousTally {
    /// What is counted together.
    struct Kind: Hashable {
        let status: UInt
        /// The code of a refusal, or the route of an answer.
        let name: String
    }

    struct Summary: Equatable {
        let kind: Kind
        /// All of that second, with those that were logged.
        let count: Int
        /// Milliseconds since 1970.
        let beganAt: Int64
    }

    /// How many of a kind are logged in a second, and of all kinds together.
    static let samplesOfKind = 3
    static let samples = 12

    private static let window: Int64 = 1000

    private var beganAt: Int64?
    private var counts: [Kind: Int] = [:]
    private var unlogged: Set<Kind> = []
    private var logged = 0

    /// Returns whether this one is logged.
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

    /// Begins another second when the one under way is over, and returns what to say about that.
    mutating func advance(to now: Int64) -> [Summary] {
        // A clock that was set back must not keep this second going until it is where it was.
        if let beganAt, now >= beganAt, now - beganAt < Self.window { return [] }
        defer { beganAt = now }
        return finish()
    }

    /// Ends the second that is under way.
    mutating func finish() -> [Summary] {
        let summaries = unlogged.map { kind in
            Summary(kind: kind, count: counts[kind, default: 0], beganAt: beganAt ?? 0)
        }
        counts.removeAll(keepingCapacity: true)
        unlogged.removeAll(keepingCapacity: true)
        logged = 0
        return summaries.sorted { ($0.kind.status, $0.kind.name) < ($1.kind.status, $1.kind.name) }
    }
}
