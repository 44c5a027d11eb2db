import CoreMetrics
import SignIn
import Testing

@testable import HTTPAPI

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
