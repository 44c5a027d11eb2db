import Logging
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct LateCallTests {
    @Test func `a thousand calls a second that end too late are a line in ten seconds`() {
        let (log, clock) = (CapturedLog(), ManualClock(millisecondsSince1970: RunningService.now))
        let sink = LogSink { log.append($0) }
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, level: .info, sink: sink, now: { clock.millisecondsSince1970 })
        }
        let observer = RequestObserver(
            registry: MetricsRegistry(), sink: sink, logger: logger,
            now: { clock.millisecondsSince1970 })
        for _ in 0..<60_000 {
            observer.recordLate()
            clock.advance(by: .milliseconds(1))
        }
        sink.flush()
        let lines = log.lines.filter { $0.contains("calls finished after their time") }
        #expect(lines.count == 6)
        #expect(lines.last?.contains("count=10000") == true)
    }
}
