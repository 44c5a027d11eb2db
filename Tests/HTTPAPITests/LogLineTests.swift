import Logging
import Testing

@testable import HTTPAPI

@Suite struct LogLineTests {
    static func line(_ value: String) -> String {
        var line = LogLine(at: 1_767_225_600_123, level: "info")
        line.field("msg", value)
        return String(decoding: line.finish(), as: UTF8.self)
    }

    @Test func `a plain value stands as it is`() {
        #expect(Self.line("hello") == "time=2026-01-01T00:00:00.123Z level=info msg=hello\n")
    }

    @Test(arguments: [
        ("two words", #""two words""#), ("", #""""#), (#"a"b\c"#, #""a\"b\\c""#), ("a=b", #""a=b""#),
        ("line\nlevel=critical", #""line level=critical""#), ("\u{1B}[31mred", #""\u{1b}[31mred""#),
        ("refused\n\tIs it\r\nthere?", #""refused Is it there?""#), ("é\u{202E}", #""\u{e9}\u{202e}""#),
        ("\u{0}", #""\u{0}""#),
    ])
    func `a value cannot leave its field`(value: String, written: String) {
        #expect(Self.line(value).hasSuffix("msg=\(written)\n"))
    }

    @Test(arguments: [
        (Int64(0), "0"), (-1, "-1"), (Int64.min, "-9223372036854775808"), (Int64.max, "9223372036854775807"),
    ])
    func `numbers are whole`(value: Int64, written: String) {
        var line = LogLine(at: 0, level: "info")
        line.field("n", value)
        #expect(String(decoding: line.finish(), as: UTF8.self).hasSuffix(" n=\(written)\n"))
    }

    @Test func `swift-log's messages take the same form`() {
        let log = CapturedLog()
        let sink = LogSink { log.append($0) }
        let logger = Logger(label: "x") { label in
            LineLogHandler(label: label, level: .info, sink: sink, now: { 0 })
        }
        logger.debug("not this")
        logger.notice("this\nline", metadata: ["k y": "v", "a": ["b", "c"]])
        sink.flush()
        #expect(
            log.text
                == #"time=1970-01-01T00:00:00.000Z level=notice logger=x msg="this line" a="[\"b\", \"c\"]" k_y=v"#
                + "\n")
    }

    @Test func `a sink that is not read drops lines, and says how many`() {
        let log = CapturedLog()
        let sink = LogSink { log.append($0) }
        let long = String(repeating: "x", count: 1_000_000)
        for _ in 0..<10 {
            var line = LogLine(at: 0, level: "info")
            line.field("msg", long)
            sink.append(line)
        }
        sink.flush()
        #expect(log.lines.count == 6)
        #expect(log.lines.last?.contains("count=5") == true)
        sink.append(LogLine(at: 0, level: "info"))
        sink.flush()
        #expect(log.lines.count == 7)
    }
}
