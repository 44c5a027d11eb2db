import AppAttestation

/// The judged requests of App Check, read before each scrape. The series are made at the start, for each
/// configured target.
struct AppCheckMetrics: Sendable {
    init(_ registry: MetricsRegistry, counts: AppCheckCounts) {
        guard !counts.targets.isEmpty else { return }
        var cells: [(target: AppCheckTarget, kind: AppCheckKind, cell: GaugeCell)] = []
        for target in counts.targets {
            for kind in AppCheckKind.allCases {
                let cell = registry.total(
                    "siwa_app_check_requests_total",
                    [
                        ("target_kind", target.kind.rawValue), ("target", target.name),
                        ("kind", kind.rawValue),
                    ],
                    help: "Requests that App Check judged, by app or OAuth client and by kind.")
                cells.append((target, kind, cell))
            }
        }
        let dropped = registry.total(
            "siwa_app_check_dropped_total",
            help: "Judged requests whose hour was dropped before it could be stored.")
        registry.beforeReading { [cells] in
            for (target, kind, cell) in cells { cell.set(counts.totals(of: target)[kind]) }
            dropped.set(counts.dropped)
        }
    }
}
