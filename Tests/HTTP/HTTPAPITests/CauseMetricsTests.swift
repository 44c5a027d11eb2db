import AppleAccounts
import Commits
import CoreMetrics
import SignIn
import Testing

@testable import HTTPAPI

/// Metrics that name the cause: by client, by caller, by code, by reader. Each is bounded.
@Suite struct CauseMetricsTests {
    private var service: RunningService { .current }

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

    @Test(.service())
    func `the metrics have the readers of the feed, by their keys`() async throws {
        _ = try await service.get("/v1/events?after=0")
        _ = try await service.get("/v1/events?after=latest", secret: RunningService.limitedSecret)
        let metrics = try await service.get("/metrics").text
        #expect(metrics.matches(of: /siwa_event_reader_behind\{reader="[a-z-]+"\} 0\n/).count == 2)
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

@Suite struct MetricsTextTests {
    @Test func `counters, gauges and histograms are written for Prometheus`() {
        let registry = MetricsRegistry()
        registry.counter("a_total", [("x", "1\"\\\n")], help: "What it counts.").increment(by: 3)
        registry.gauge("b", help: "B.").set(0.5)
        let histogram = registry.histogram(
            "c_seconds", bounds: [1_000_000, 1_000_000_000], scale: 1e-9, help: "C.")
        registry.total("d_total", help: "D.").set(1.25)
        for duration: Int64 in [500_000, 2_000_000, 5_000_000_000] { histogram.recordNanoseconds(duration) }
        #expect(
            String(decoding: registry.text(), as: UTF8.self) == """
                # HELP a_total What it counts.
                # TYPE a_total counter
                a_total{x="1\\"\\\\\\n"} 3
                # HELP b B.
                # TYPE b gauge
                b 0.5
                # HELP c_seconds C.
                # TYPE c_seconds histogram
                c_seconds_bucket{le="0.001"} 1
                c_seconds_bucket{le="1"} 2
                c_seconds_bucket{le="+Inf"} 3
                c_seconds_sum 5.0025
                c_seconds_count 3
                # HELP d_total D.
                # TYPE d_total counter
                d_total 1.25

                """)
    }

    @Test func `the same name and labels are the same cell`() {
        let registry = MetricsRegistry()
        registry.counter("a", [("x", "1")]).increment(by: 1)
        registry.counter("a", [("x", "1")]).increment(by: 1)
        registry.counter("a", [("x", "2")]).increment(by: 1)
        let text = String(decoding: registry.text(), as: UTF8.self)
        #expect(text.contains("a{x=\"1\"} 2\n"))
        #expect(text.contains("a{x=\"2\"} 1\n"))
    }

    @Test func `what libraries count through swift-metrics is shown too`() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "some.lib-count", dimensions: [("k", "v")]).increment(by: 2)
        registry.makeRecorder(label: "batch", dimensions: [], aggregate: true).record(3.0)
        registry.makeRecorder(label: "batch", dimensions: [], aggregate: true).record(Double.infinity)
        registry.makeTimer(label: "took_seconds", dimensions: []).recordNanoseconds(1)
        let text = String(decoding: registry.text(), as: UTF8.self)
        #expect(text.contains("some_lib_count_total{k=\"v\"} 2\n"))
        #expect(text.contains("batch_count 2\n"))
        #expect(text.contains("took_seconds_count 1\n"))
        // swift-metrics has no help, and Prometheus wants one.
        #expect(text.contains("# HELP batch "))
    }

    @Test func `the counters of a worker come with their help`() {
        enum Result: String, CountedResult {
            case done, failed
        }
        let registry = MetricsRegistry()
        let counters = ResultCounters<Result>("work", help: "Work by result.", factory: registry)
        counters.count(.done)
        #expect(
            String(decoding: registry.text(), as: UTF8.self) == """
                # HELP work_total Work by result.
                # TYPE work_total counter
                work_total{result="done"} 1
                work_total{result="failed"} 0

                """)
    }

    @Test func `a library's name becomes one that Prometheus takes`() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "2xx.answers_total", dimensions: []).increment(by: 1)
        let text = String(decoding: registry.text(), as: UTF8.self)
        #expect(text.contains("# TYPE _2xx_answers_total counter\n_2xx_answers_total 1\n"))
    }
}

@Suite struct NotificationMetricsTests {
    @Test(arguments: [(NotificationReceipt.applied, 1), (.unchanged, 0), (.duplicate, 0), (.unknownType, 0)])
    func `a revocation counts once, if it revoked a credential`(receipt: NotificationReceipt, count: Double) {
        let registry = MetricsRegistry()
        let metrics = NotificationMetrics(registry, last: LastNotification(Moment(milliseconds: 0))) { 0 }
        metrics.count(receipt, [.consentRevoked, .unknown])
        let readings = registry.readings(of: "siwa_apple_notified_revocations_total")
        #expect(readings.map(\.value) == [count])
    }
}
