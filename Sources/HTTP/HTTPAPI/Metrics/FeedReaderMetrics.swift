import AppleAccounts

/// The position of each reader of the event feed, read before each scrape.
///
/// There is one series for each API key, made at the start. Its value is `NaN` until the reader has asked this
/// process.
struct FeedReaderMetrics: Sendable {
    private struct Gauges {
        let sequence: GaugeCell
        let behind: GaugeCell
        let age: GaugeCell
    }

    /// - Parameters:
    ///   - names: The names of the API keys. Empty where callers need none.
    ///   - now: Milliseconds since 1970.
    init(
        _ registry: MetricsRegistry, readers: FeedReaders, names: [String],
        now: @escaping @Sendable () -> Int64
    ) {
        let names = names.isEmpty ? [FeedReaders.anonymous] : names
        let gauges = names.map { name in
            let labels = [("reader", name)]
            return (
                name,
                Gauges(
                    sequence: registry.gauge(
                        "siwa_event_reader_sequence", labels,
                        help: "Number of the last event that the reader had when it last asked."),
                    behind: registry.gauge(
                        "siwa_event_reader_behind", labels,
                        help: "Events of the feed after this number, at most."),
                    age: registry.gauge(
                        "siwa_event_reader_age_seconds", labels, help: "Since the reader last asked."))
            )
        }
        registry.beforeReading {
            let known = Dictionary(uniqueKeysWithValues: readers.all.map { ($0.name, $0) })
            for (name, gauges) in gauges {
                let reader = known[name]
                gauges.sequence.set(reader.map { Double($0.sequence) } ?? .nan)
                gauges.behind.set(reader.map { Double($0.behind) } ?? .nan)
                gauges.age.set(
                    reader.map { Double(max(0, now() - $0.askedAt.milliseconds) / 1000) } ?? .nan)
            }
        }
    }
}
