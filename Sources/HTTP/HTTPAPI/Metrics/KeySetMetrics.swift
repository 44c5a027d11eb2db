import KeySets

/// The state of the key set, read before each scrape.
struct KeySetMetrics: Sendable {
    init(_ registry: MetricsRegistry, keys: any VerificationKeys) {
        let isReady = registry.gauge("siwa_keys_ready", help: "1 when tokens can be verified.")
        let isStale = registry.gauge("siwa_keys_stale", help: "1 when Apple's keys are not confirmed.")
        let count = registry.gauge("siwa_keys", help: "Usable keys of Apple's set.")
        let age = registry.gauge("siwa_keys_age_seconds", help: "Since Apple last sent or confirmed the set.")
        let replaced = registry.gauge(
            "siwa_key_fetches", [("result", "replaced")], help: "Fetches of the set.")
        let confirmed = registry.gauge("siwa_key_fetches", [("result", "confirmed")])
        let adopted = registry.gauge("siwa_key_fetches", [("result", "adopted")])
        let failures = KeySetFetchError.Code.allCases.map { code in
            (code, registry.gauge("siwa_key_fetches", [("result", code.rawValue)]))
        }
        registry.beforeReading {
            let health = keys.health
            isReady.set(health.isReady ? 1 : 0 as Int64)
            if case .stale = health.status { isStale.set(1 as Int64) } else { isStale.set(0 as Int64) }
            count.set(Int64(health.keyCount))
            age.set(Int64(health.age ?? 0) / 1000)
            replaced.set(Int64(health.fetches.replaced))
            confirmed.set(Int64(health.fetches.confirmed))
            adopted.set(Int64(health.fetches.adopted))
            for (code, cell) in failures { cell.set(Int64(health.fetches.failed[code] ?? 0)) }
        }
    }
}
