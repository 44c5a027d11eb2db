import AppleAccounts

/// The plots of the overview.
struct ServicePlots {
    /// Codes with a colour of their own. The rest is one column.
    private static let mostCodes = 4

    let period: PlotPeriod
    let points: [PlotPoint]

    private var total: NumberSeries.Counts {
        points.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
    }

    var all: [Plot] { [signIns, refusals, revocations, latency] }

    var signIns: Plot {
        Plot(
            id: "sign-ins", title: "Sign-ins", unit: "", form: .area, lines: [count("Sign-ins", of: .signIn)],
            period: period, points: points)
    }

    var revocations: Plot {
        Plot(
            id: "revocations", title: "Revocations", unit: "", form: .columns,
            lines: [
                count("Told by Apple", of: .revoked), count("Found by a daily check", of: .checkRejected),
            ], period: period, points: points)
    }

    /// The codes with most refusals, and the others as one.
    var refusals: Plot {
        let codes = total.compactMap { name, count in name.code.map { ($0, count) } }
            .filter { $0.1 > 0 }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        let own = codes.prefix(Self.mostCodes).map(\.0)
        var lines = own.map { code in count(code, of: .refused(code)) }
        let others = codes.dropFirst(Self.mostCodes)
        if !others.isEmpty {
            lines.append(
                Plot.Line(
                    label: "others",
                    value: { counts in
                        counts.reduce(into: 0.0) { sum, entry in
                            if let code = entry.key.code, !own.contains(code) { sum += Double(entry.value) }
                        }
                    }, total: PlotNumber.text(Double(others.reduce(0) { $0 + $1.1 }))))
        }
        return Plot(
            id: "refusals", title: "Refusals by code", unit: "", form: .columns, lines: lines, period: period,
            points: points)
    }

    var latency: Plot {
        let all = LatencyCounts(total)
        func line(_ label: String, _ part: Double) -> Plot.Line {
            Plot.Line(
                label: label, value: { LatencyCounts($0).quantile(part) },
                total: all.quantile(part).map { "\(PlotNumber.text($0)) ms" } ?? "–")
        }
        return Plot(
            id: "latency", title: "Duration in ms of sign-ins, verifications and token requests", unit: "ms",
            form: .lines,
            lines: [line("half of the requests", 0.5), line("99 of 100", 0.99)], period: period,
            points: points)
    }

    private func count(_ label: String, of name: CountName) -> Plot.Line {
        Plot.Line(
            label: label, value: { Double($0[name] ?? 0) },
            total: PlotNumber.text(Double(total[name] ?? 0)))
    }
}
