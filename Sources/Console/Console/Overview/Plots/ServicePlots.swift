import AppleAccounts

/// The plots of the overview.
struct ServicePlots {
    /// Maximum number of refusal codes with their own color. All other codes share one color.
    private static let mostCodes = 4

    let period: PlotPeriod
    let points: [NumberSeries.Point]

    var all: [Plot] { [signIns, refusals, revocations, latency] }

    var signIns: Plot { plot("sign-ins", "Sign-ins", .area, [count("Sign-ins", of: .signIn)]) }

    var revocations: Plot {
        plot(
            "revocations", "Revocations", .columns,
            [count("Told by Apple", of: .revoked), count("Found by a daily check", of: .checkRejected)])
    }

    /// The most frequent refusal codes, with all others combined.
    var refusals: Plot {
        let codes = points.total.compactMap { name, count in name.code.map { ($0, count) } }
            .filter { $0.1 > 0 }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        let own = codes.prefix(Self.mostCodes).map(\.0)
        var lines = own.map { code in count(code, of: .refused(code)) }
        let others = codes.dropFirst(Self.mostCodes).reduce(0) { $0 + $1.1 }
        if others > 0 {
            let isOther: (CountName) -> Bool = { $0.code.map(own.contains) == false }
            lines.append(
                Plot.Line(
                    label: "others", value: { Double($0.reduce(0) { isOther($1.key) ? $0 + $1.value : $0 }) },
                    total: PlotNumber.text(Double(others))))
        }
        return plot("refusals", "Refusals by code", .columns, lines)
    }

    var latency: Plot {
        let all = LatencyCounts(points.total)
        func line(_ label: String, _ part: Double) -> Plot.Line {
            Plot.Line(
                label: label, value: { LatencyCounts($0).quantile(part) },
                total: all.quantile(part).map { "\(PlotNumber.text($0)) ms" } ?? "–")
        }
        return plot(
            "latency", "Duration in ms of sign-ins, verifications and token requests", .lines, unit: "ms",
            [line("half of the requests", 0.5), line("99 of 100", 0.99)])
    }

    private func count(_ label: String, of name: CountName) -> Plot.Line {
        Plot.Line(
            label: label, value: { Double($0[name] ?? 0) },
            total: PlotNumber.text(Double(points.total[name] ?? 0)))
    }

    private func plot(
        _ id: String, _ title: String, _ form: Plot.Form, unit: String = "", _ lines: [Plot.Line]
    ) -> Plot {
        Plot(id: id, title: title, unit: unit, form: form, lines: lines, period: period, points: points)
    }
}

extension [NumberSeries.Point] {
    fileprivate var total: NumberSeries.Counts {
        reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
    }
}

/// The period that the plots cover.
enum PlotPeriod: String, CaseIterable, Sendable {
    /// The last hour by minute, for this process.
    case hour
    /// The last 24 hours by hour, for all replicas.
    case day
    /// The last 7 days by hour, for all replicas.
    case week

    /// - Returns:
    ///   - hours: Number of hours; `nil` for the hour that is shown by minute.
    ///   - label: Milliseconds between two labels on the time axis.
    ///   - row: Milliseconds that a table row covers. Rows cover long periods, so that the table stays short.
    private var traits: (title: String, hours: Int?, label: Int64, row: Int64) {
        switch self {
        case .hour: ("Last hour", nil, 10 * 60_000, 5 * 60_000)
        case .day: ("Last day", 24, 4 * 3_600_000, 3_600_000)
        case .week: ("Last 7 days", 168, 24 * 3_600_000, 24 * 3_600_000)
        }
    }

    var title: String { traits.title }
    var hours: Int? { traits.hours }
    var words: String { "By \(hours == nil ? "minute" : "hour") over the \(title.lowercased())" }

    /// Returns the label on the time axis; `nil` for most points.
    func label(at begin: Moment) -> String? {
        guard begin.milliseconds.isMultiple(of: traits.label) else { return nil }
        return self == .week ? String(text(of: begin).prefix(5)) : text(of: begin)
    }

    /// Returns a time as text for the table.
    func text(of begin: Moment) -> String {
        // The text contains no year, because a plot covers at most seven days.
        let (date, time) = (begin.rfc3339.dropFirst(5).prefix(5), begin.rfc3339.dropFirst(11).prefix(5))
        return self == .week ? "\(date) \(time)" : String(time)
    }

    /// Returns the table rows, newest first.
    func rows(of points: [NumberSeries.Point]) -> [NumberSeries.Point] {
        Dictionary(grouping: points) { $0.begin.milliseconds / traits.row }.sorted { $0.key > $1.key }.map {
            NumberSeries.Point(begin: Moment(milliseconds: $0.key * traits.row), counts: $0.value.total)
        }
    }
}

/// Request durations as counts by bucket, for estimating quantiles.
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

    /// Returns the duration in milliseconds within which this share of the requests was answered,
    /// interpolated linearly within a bucket; `nil` if there are no requests. In the last bucket, returns the
    /// previous bucket's bound.
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

    /// Returns the previous bucket's bound. It is not always in the previous entry, because buckets without
    /// requests are not stored.
    private static func begin(of bound: Double) -> Double {
        let steps = [0, 1e5, 2.5e5, 5e5, 1e6, 2.5e6, 5e6, 1e7, 2.5e7, 5e7, 1e8, 2.5e8, 5e8, 1e9, 2.5e9, 5e9]
        return steps.last { $0 < bound } ?? 0
    }
}
