/// The numbers behind the warnings, read before each scrape.
struct WarningMetrics: Sendable {
    init(_ registry: MetricsRegistry, warnings: ServiceWarnings) {
        let unreadable = registry.gauge(
            "siwa_sealed_values_unreadable",
            help: "Stored values of a sample that the configured sealing keys do not open.")
        let ahead = registry.gauge(
            "siwa_clock_skew_seconds",
            help: "By how much the clock is ahead of Apple's; NaN until Apple has answered.")
        registry.beforeReading {
            unreadable.set(warnings.unreadableValues)
            ahead.set(warnings.secondsAhead.map(Double.init) ?? .nan)
        }
    }
}
