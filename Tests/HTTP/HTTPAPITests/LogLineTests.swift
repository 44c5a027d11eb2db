import Logging
import StrictJSON
import Synchronization
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

/// The log as JSON.
@Suite struct JSONLogTests {
    private var service: RunningService { .current }

    @Test(.service { $0.logFormat = .json })
    func `a line is one object with the fields of the text`() async throws {
        _ = try await service.get(
            "/v1/credentials/some.sub?client_id=x", fields: ["X-Request-ID": "r1"])
        let lines = service.loggedText().split(separator: "\n")
        let line = try #require(lines.last { $0.contains("\"r1\"") })
        let json = try JSONValue(parsing: Array(line.utf8))
        expect(
            json,
            has: [
                "time": "2026-01-01T00:01:00.000Z", "level": "info", "msg": "request",
                "route": "/v1/credentials/{sub}", "caller": "backend",
            ])
        guard case .integer(404) = json["status"], case .integer = json["duration_us"] else {
            Issue.record("status and duration are numbers: \(line)")
            return
        }
        for line in lines { _ = try JSONValue(parsing: Array(line.utf8)) }
    }

    @Test(arguments: [
        "two words", "a\"b\\c", "line\nlevel=critical", "\u{1B}[31mred", "\"},{\"level\":\"critical",
        "é\u{202E}",
        "\r\n{\"msg\":\"forged\"}",
    ])
    func `a value cannot leave its field`(value: String) throws {
        let log = CapturedLog()
        let sink = LogSink(format: .json) { log.append($0) }
        let logger = Logger(label: "x") { label in
            LineLogHandler(label: label, level: .info, sink: sink, now: { 0 })
        }
        logger.notice(
            "\(value)", metadata: ["key": "\(value)", "msg": "mine", "time": "mine", "error": "\(value)"])
        sink.flush()
        let lines = log.lines
        #expect(lines.count == 1)
        // The strict reader refuses equal names.
        let json = try JSONValue(parsing: Array(try #require(lines.first).utf8))
        expect(json, has: ["msg": .string(value), "key": .string(value), "error": .string(value)])
        expect(json, has: ["_msg": "mine", "_time": "mine", "level": "notice"])
    }

    @Test func `the notice about dropped lines is an object too`() throws {
        let log = CapturedLog()
        let sink = LogSink(format: .json) { log.append($0) }
        for _ in 0..<10 {
            var line = sink.line(at: 0, level: "info")
            line.field("msg", String(repeating: "x", count: 1_000_000))
            sink.append(line)
        }
        sink.flush()
        let notice = try JSONValue(parsing: Array(try #require(log.lines.last).utf8))
        expect(notice, has: ["msg": "log lines dropped", "count": 5])
    }

    @Test(.service { $0.logRate = 10 })
    func `of successes a share is logged, which each line states, and every refusal`() async throws {
        try await ProbeConnection.with(port: service.port) { connection in
            for number in 0..<2000 {
                let target = number.isMultiple(of: 10) ? "/v1/events?x=1" : "/v1/events"
                try await connection.send(RunningService.request("GET", target))
                _ = try await connection.response()
            }
        }
        var counts: [String: Int] = [:]
        for line in service.requestLines where line.contains(" route=/v1/events ") {
            let isRefusal = line.contains(" status=400 ")
            let isWhole = line.hasSuffix(isRefusal ? " code=parameter_unknown" : " sampled=10")
            counts["\(isRefusal ? "refusal" : "success") \(isWhole)", default: 0] += 1
        }
        #expect(counts["refusal true"] == 200)
        #expect((110...260).contains(counts["success true", default: 0]))
        #expect(counts.count == 2)
    }
}

/// Stores the lines of the log.
final class CapturedLog: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func append(_ piece: [UInt8]) {
        bytes.withLock { $0.append(contentsOf: piece) }
    }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    var lines: [Substring] { text.split(separator: "\n") }
}

@Suite struct RequestSamplerTests {
    static func kind(_ name: String) -> RequestSampler.Kind {
        RequestSampler.Kind(status: 401, name: name)
    }

    /// Number of logged requests out of this many.
    static func logged(_ count: Int, _ name: String, _ sampler: inout RequestSampler) -> Int {
        var logged = 0
        for _ in 0..<count where sampler.count(kind(name)) { logged += 1 }
        return logged
    }

    @Test func `lets the first few through, and sums up the rest when the second is over`() {
        var sampler = RequestSampler()
        #expect(sampler.advance(to: 1000) == [])
        #expect(Self.logged(10_000, "a", &sampler) == 3)
        #expect(sampler.advance(to: 1999) == [])
        #expect(sampler.advance(to: 2000) == [.init(kind: Self.kind("a"), count: 10_000)])
        #expect(sampler.advance(to: 3000) == [])
    }

    @Test func `says nothing more about what was logged singly`() {
        var sampler = RequestSampler()
        #expect(sampler.advance(to: 0) == [])
        #expect(Self.logged(3, "a", &sampler) == 3)
        #expect(sampler.finish() == [])
    }

    @Test func `bounds the lines of a second also over all kinds`() {
        var sampler = RequestSampler()
        #expect(sampler.advance(to: 0) == [])
        var logged = 0
        for number in 0..<100 { logged += Self.logged(10, "\(number)", &sampler) }
        #expect(logged == 12)
        let summaries = sampler.finish()
        #expect(summaries.count == 100)
    }

    @Test func `begins again in each second, and when the clock was set back`() {
        var sampler = RequestSampler()
        for now: Int64 in [0, 1000, 5000, 2000, 3000] {
            _ = sampler.advance(to: now)
            #expect(Self.logged(10, "a", &sampler) == 3)
        }
    }
}
