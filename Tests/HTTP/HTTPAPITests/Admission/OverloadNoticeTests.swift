import Logging
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct OverloadNoticeTests {
    /// The lines so far.
    static func said(_ log: CapturedLog, _ sink: LogSink) -> [Substring] {
        sink.flush()
        return log.lines.filter { $0.contains("requests turned away") }
    }

    @Test func `says it once in a while, and also after the clock was set back`() {
        let (log, clock) = (CapturedLog(), ManualClock(millisecondsSince1970: RunningService.now))
        let sink = LogSink { log.append($0) }
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, level: .info, sink: sink, now: { clock.millisecondsSince1970 })
        }
        let notice = OverloadNotice(
            registry: MetricsRegistry(), logger: logger, now: { clock.millisecondsSince1970 })
        for _ in 0..<3 { notice.count() }
        #expect(Self.said(log, sink).count == 1)
        clock.advance(by: .seconds(1))
        notice.count()
        #expect(Self.said(log, sink).count == 2)
        #expect(Self.said(log, sink).last?.contains("count=3") == true)
        clock.advance(by: .seconds(-3600))
        notice.count()
        #expect(Self.said(log, sink).count == 3)
        notice.count()
        #expect(Self.said(log, sink).count == 3)
    }
}
