import AppleAccounts
import Commits
import Testing

@testable import HTTPAPI

/// Metrics that name the cause: by client, by caller, by code, by reader. Each is bounded.
@Suite struct CauseMetricsTests {
    private func lines(_ registry: MetricsRegistry, _ name: String) -> [String] {
        String(decoding: registry.text(), as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("\(name){") }
    }

    @Test func `twenty clients have a label of their own, and all further clients share one`() {
        let labels = ClientLabels(ids: (0..<1000).map { "client-\($0)" })
        #expect(labels.all.count == ClientLabels.most + 2)
        #expect(Set(labels.all).count == labels.all.count)
        #expect(labels.label(of: "client-19") == "client-19")
        #expect(labels.label(of: "client-20") == "other" && labels.label(of: "client-999") == "other")
        #expect(labels.label(of: nil) == "none")
        #expect(ClientLabels(ids: ["a"]).all == ["a", "none"])
    }

    @Test func `a client that has the name of a common label has none of its own`() {
        let labels = ClientLabels(ids: ["other", "none", "a"])
        #expect(labels.all == ["a", "other", "none"])
        #expect(labels.label(of: "none") == "other" && labels.label(of: "a") == "a")
    }

    @Test func `requests are counted by the caller that they name, and no request adds a series`() {
        let registry = MetricsRegistry()
        let metrics = CallerMetrics(
            registry, callers: ["backend"], clients: ClientLabels(ids: (0..<30).map { "c\($0)" }))
        let name = CallerMetrics.name
        let before = lines(registry, name).count
        metrics.count(caller: "backend", client: nil, isRefused: false)
        metrics.count(caller: "backend", client: "c1", isRefused: true)
        for number in 0..<1000 { metrics.count(caller: nil, client: "c\(number)", isRefused: true) }
        for number in 0..<1000 { metrics.count(caller: "invented-\(number)", client: nil, isRefused: true) }
        metrics.count(caller: nil, client: nil, isRefused: false)
        for _ in 0..<3 { metrics.count(caller: CallerDirectory.metricsName, client: nil, isRefused: false) }
        let after = lines(registry, name)
        #expect(after.count == before && before == 2 * (2 + 21 + 1))
        for line in [
            #"{caller="backend",result="answered"} 1"#, #"{caller="backend",result="refused"} 1"#,
            #"{caller="metrics",result="answered"} 3"#,
            #"{caller="client:c7",result="refused"} 1"#, #"{caller="client:other",result="refused"} 980"#,
            #"{caller="none",result="refused"} 1000"#, #"{caller="none",result="answered"} 1"#,
        ] { #expect(after.contains(name + line), "\(line)") }
    }

    @Test func `refusals are counted by code, up to 192 codes`() {
        let registry = MetricsRegistry()
        let metrics = RefusalMetrics(registry)
        // A rate finds the first refusal only if there was a sample before it.
        let begun = lines(registry, RefusalMetrics.name)
        #expect(begun.count > 90 && begun.count < RefusalMetrics.most - 32)
        #expect(begun.allSatisfy { $0.hasSuffix(" 0") })
        for code in ["issued_in_future", "nonce_used", "caller_unauthenticated", "invalid_grant"] {
            #expect(begun.contains(#"siwa_http_refusals_total{code="\#(code)"} 0"#), "\(code)")
        }
        metrics.count("token_expired")
        for number in 0..<1000 { metrics.count("code_\(number)") }
        let after = lines(registry, "siwa_http_refusals_total")
        #expect(after.count == RefusalMetrics.most + 1)
        #expect(after.contains(#"siwa_http_refusals_total{code="token_expired"} 1"#))
        let counted = after.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counted.reduce(0, +) == 1001)
    }

    @Test func `a reader's lag is the events after the number that it asked from`() {
        let feed = EventFeed()
        let readers = FeedReaders(feed: feed)
        let registry = MetricsRegistry()
        _ = FeedReaderMetrics(registry, readers: readers, names: ["backend", "mail"], now: { 9500 })
        #expect(lines(registry, "siwa_event_reader_behind").allSatisfy { $0.hasSuffix(" NaN") })
        feed.advance(to: 12)
        readers.note("backend", after: 5, at: Moment(milliseconds: 1000))
        readers.note("mail", after: 40, at: Moment(milliseconds: 2000))
        readers.note("backend", after: 10, at: Moment(milliseconds: 3000))
        #expect(
            readers.all == [
                FeedReaders.Reader(
                    name: "backend", sequence: 10, behind: 2, askedAt: Moment(milliseconds: 3000)),
                // A cursor of a database that was restored since.
                FeedReaders.Reader(
                    name: "mail", sequence: 40, behind: 0, askedAt: Moment(milliseconds: 2000)),
            ])
        #expect(
            lines(registry, "siwa_event_reader_behind") == [
                #"siwa_event_reader_behind{reader="backend"} 2"#,
                #"siwa_event_reader_behind{reader="mail"} 0"#,
            ])
        #expect(
            lines(registry, "siwa_event_reader_age_seconds").first
                == #"siwa_event_reader_age_seconds{reader="backend"} 6"#)
    }

    @Test func `the metrics have the readers of the feed, by their keys`() async throws {
        try await RunningService.with { service in
            _ = try await service.call("GET", "/v1/events?after=0")
            _ = try await service.call("GET", "/v1/events?after=latest", secret: RunningService.limitedSecret)
            let metrics = try await service.call("GET", "/metrics").text
            #expect(metrics.matches(of: /siwa_event_reader_behind\{reader="[a-z-]+"\} 0\n/).count == 2)
        }
    }

    @Test func `readings of a histogram are its buckets, not their sums`() {
        let registry = MetricsRegistry()
        let cell = registry.histogram("x_seconds", [("route", "/a")], bounds: [10, 20], scale: 1e-9)
        for value in [5, 15, 15, 99] as [Int64] { cell.record(value) }
        #expect(
            registry.readings(of: "x_seconds") == [
                MetricReading(labels: ["route": "/a", "le": "10"], value: 1),
                MetricReading(labels: ["route": "/a", "le": "20"], value: 2),
                MetricReading(labels: ["route": "/a", "le": "+Inf"], value: 1),
            ])
        #expect(registry.readings(of: "y") == [])
    }
}
