/// Durations of requests as counts by bucket, from which quantiles are estimated.
struct LatencyCounts: Sendable {
    /// Upper bounds in nanoseconds, ascending, with their counts. The last bucket has no bound.
    private let buckets: [(bound: Double?, count: Int64)]

    init(_ counts: NumberSeries.Counts) {
        buckets = counts.compactMap { name, count -> (bound: Double?, count: Int64)? in
            guard let bound = name.latencyBound else { return nil }
            return (Double(bound).flatMap { $0.isFinite ? $0 : nil }, count)
        }.sorted { ($0.bound ?? .infinity) < ($1.bound ?? .infinity) }
    }

    var count: Int64 { buckets.reduce(0) { $0 + $1.count } }

    /// Returns the duration in milliseconds within which this part of the requests was answered, linear within
    /// a bucket. `nil` without requests. In the last bucket it is the bound of the bucket before.
    func quantile(_ part: Double) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        let rank = part * Double(total)
        var (below, lower) = (0.0, 0.0)
        for bucket in buckets {
            guard let bound = bucket.bound else { break }
            let here = Double(bucket.count)
            if here > 0, below + here >= rank {
                let begin = Self.begin(of: bound)
                return (begin + (bound - begin) * (rank - below) / here) / 1e6
            }
            below += here
            lower = bound
        }
        return lower / 1e6
    }

    /// Returns the bound of the bucket before. Buckets without requests are not stored, so that it is not
    /// always the entry before.
    private static func begin(of bound: Double) -> Double {
        let steps = [0, 1e5, 2.5e5, 5e5, 1e6, 2.5e6, 5e6, 1e7, 2.5e7, 5e7, 1e8, 2.5e8, 5e8, 1e9, 2.5e9, 5e9]
        return steps.last { $0 < bound } ?? 0
    }
}
