/// The numbers behind the warnings, read before each scrape.
struct WarningMetrics: Sendable {
    init(_ registry: MetricsRegistry, warnings: ServiceWarnings) {
        let unreadable = registry.gauge(
            "siwa_sealed_values_unreadable",
            help: "Stored values of a sample that the configured sealing keys do not open.")
        let ahead = registry.gauge(
            "siwa_clock_skew_seconds",
            help: "By how much the clock is ahead of Apple's; NaN until Apple has answered.")
        let proxies = registry.gauge(
            "siwa_trusted_proxies_missing",
            help: "1 if all requests of the last hour came from one private address, which is no named proxy."
        )
        registry.beforeReading {
            unreadable.set(warnings.unreadableValues)
            proxies.set(warnings.loneRequester == nil ? Int64(0) : 1)
            ahead.set(warnings.secondsAhead.map(Double.init) ?? .nan)
        }
    }
}
