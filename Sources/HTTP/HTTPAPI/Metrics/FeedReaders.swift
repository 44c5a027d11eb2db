public import AppleAccounts
public import Commits
import EventDelivery
import Synchronization

/// The callers that read the event feed, by API key, with the last sequence number that each caller has read
/// and the time of its last request.
///
/// The number of configured keys bounds the memory use. In development, where callers need no key, all
/// callers count as one reader. Each replica knows only the readers that it has served.
public final class FeedReaders: Sendable {
    /// One reader of the feed.
    public struct Reader: Sendable, Equatable {
        /// The name of the reader's API key.
        public let name: String
        /// Cursor of the reader's last request: the sequence number of the last event that the reader already
        /// has. A reader that handles each page before it requests the next page has handled all events up to
        /// this number.
        public let sequence: Int64
        /// Upper bound on the number of events that the reader has not read. A reader whose key is limited to
        /// some apps cannot see all of these events.
        public let behind: Int64
        public let askedAt: Moment
    }

    private struct Position {
        var sequence: Int64
        var askedAt: Moment
    }

    /// The reader name for callers without a key.
    public static let anonymous = "development"

    private let feed: EventFeed
    private let positions = Mutex<[String: Position]>([:])

    public init(feed: EventFeed) {
        self.feed = feed
    }

    /// Records a feed request.
    ///
    /// - Parameters:
    ///   - name: The name of the API key; `nil` for callers without keys.
    ///   - sequence: The request's cursor.
    func note(_ name: String?, after sequence: Int64, at now: Moment) {
        positions.withLock { $0[name ?? Self.anonymous] = Position(sequence: sequence, askedAt: now) }
    }

    /// All readers since the process started, sorted by name.
    public var all: [Reader] {
        let latest = feed.latest
        return positions.withLock { $0 }.sorted { $0.key < $1.key }.map { name, position in
            Reader(
                name: name, sequence: position.sequence, behind: max(0, latest - position.sequence),
                askedAt: position.askedAt)
        }
    }
}

/// Gauges for each feed reader's position, updated before each scrape.
///
/// Each API key has one series from the start. Its value is `NaN` until the reader's first request to this
/// process.
struct FeedReaderMetrics: Sendable {
    private struct Gauges {
        let sequence: GaugeCell
        let behind: GaugeCell
        let age: GaugeCell
    }

    /// - Parameters:
    ///   - names: The names of the API keys; empty if callers need no key.
    ///   - now: Returns the current time in milliseconds since 1970.
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

/// Counts the security event tokens that polls return, acknowledge or refuse, and the polls in progress.
struct PollMetrics: Sendable {
    private let handedOut: CounterCell
    private let taken: CounterCell
    private let refused: CounterCell
    private let waiting: GaugeCell

    init(_ registry: MetricsRegistry) {
        func counter(_ result: String) -> CounterCell {
            registry.counter(
                "siwa_event_polled_tokens_total", [("result", result)],
                help: "Security event tokens of polls by result.")
        }
        (handedOut, taken, refused) = (counter("handed_out"), counter("taken"), counter("refused"))
        waiting = registry.gauge(
            "siwa_event_polls", help: "Requests that poll or wait for security event tokens.")
    }

    func counting(_ poll: () async throws -> PollResponse) async throws -> PollResponse {
        waiting.increment(by: 1)
        defer { waiting.decrement(by: 1) }
        let response = try await poll()
        handedOut.increment(by: Int64(response.tokens.count))
        taken.increment(by: Int64(response.taken))
        refused.increment(by: Int64(response.refused))
        return response
    }
}
