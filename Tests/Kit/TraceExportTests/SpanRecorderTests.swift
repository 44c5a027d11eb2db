import Encodings
import Foundation
import StrictJSON
import TestSupport
import Testing
import Tracing

@testable import TraceExport

@Suite struct SpanRecorderTests {
    let recorder = SpanRecorder(sampler: TraceSampler(ratio: 1))

    private struct Odd: Error {}

    private struct Coded: CodedError {
        enum Code: String { case refused = "refused_by_receiver" }
        let code = Code.refused
        let description = "a text with a secret"
    }

    private func finished() throws -> FinishedSpan {
        try #require(recorder.queue.take(atMost: 1).spans.first)
    }

    @Test func `a child has the trace of its parent`() throws {
        let parent = recorder.startSpan("parent", context: .topLevel, ofKind: .server)
        let child = recorder.startSpan("child", context: parent.context)
        child.end()
        let span = try finished()
        #expect(span.name == "child")
        #expect(span.trace.traceID == parent.trace.traceID)
        #expect(span.parent == parent.trace.spanID)
        #expect(span.trace.spanID != parent.trace.spanID)
        #expect(span.endedAt >= span.startedAt)
    }

    @Test func `a parent that is not recorded decides for its children`() {
        let quiet = SpanRecorder(sampler: TraceSampler(ratio: 0))
        let parent = quiet.startSpan("parent", context: .topLevel)
        #expect(!parent.isRecording)
        quiet.startSpan("child", context: parent.context).end()
        parent.end()
        #expect(quiet.queue.take(atMost: 10).spans.isEmpty)
    }

    @Test func `a span ends once`() {
        let span = recorder.startSpan("twice", context: .topLevel)
        span.end()
        span.end()
        #expect(recorder.queue.take(atMost: 10).spans.count == 1)
    }

    @Test func `the text of an error is not kept`() throws {
        let span = recorder.startSpan("fails", context: .topLevel)
        span.recordError(Odd())
        span.end()
        let ended = try finished()
        #expect(ended.isFailed)
        #expect(ended.attributes.map(\.name) == ["error.type"])
        #expect(ended.attributes[0].value == .text("Odd"))
    }

    @Test func `the code of an error is its type`() throws {
        let span = recorder.startSpan("fails", context: .topLevel)
        span.recordError(Coded())
        span.end()
        #expect(try finished().attributes[0].value == .text("refused_by_receiver"))
    }

    @Test func `attributes, links and texts are bounded`() throws {
        let span = recorder.startSpan("many", context: .topLevel)
        for number in 0..<100 { span.set("key\(number)", .string(String(repeating: "x", count: 10_000))) }
        for _ in 0..<100 { span.addLink(to: span.trace) }
        span.end()
        let ended = try finished()
        #expect(ended.attributes.count == RecordedSpan.mostAttributes)
        #expect(ended.links.count == RecordedSpan.mostLinks)
        for attribute in ended.attributes {
            #expect(attribute.value == .text(String(repeating: "x", count: RecordedSpan.longestText)))
        }
    }

    @Test func `a full queue drops spans and counts them`() {
        for _ in 0..<SpanQueue.bound + 7 { recorder.startSpan("x", context: .topLevel).end() }
        let first = recorder.queue.take(atMost: 512)
        #expect((first.spans.count, first.dropped) == (512, 7))
        #expect(recorder.queue.take(atMost: 100_000).spans.count == SpanQueue.bound - 512)
        #expect(recorder.queue.take(atMost: 1).spans.isEmpty)
    }

    @Test func `a context goes through fields as it came`() {
        struct Fields: Extractor, Injector {
            func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
            func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
                carrier[key] = value
            }
        }
        let fields = [
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=1",
        ]
        var context = ServiceContext.topLevel
        recorder.extract(fields, into: &context, using: Fields())
        var sent: [String: String] = [:]
        recorder.inject(context, into: &sent, using: Fields())
        #expect(sent == fields)
    }

    @Test func `a document has the form of OTLP`() throws {
        let parent = try #require(
            TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let span = recorder.startSpan("POST /v1/sign-ins", context: ServiceContext(parent), ofKind: .server)
        span.set("http.response.status_code", .int64(503))
        span.set("siwa.caller", .string("back\"end\n"))
        span.addLink(to: parent)
        span.setStatus(SpanStatus(code: .error))
        span.end()
        let document = TraceDocument(service: "test", version: "1.2.3", instance: "abc")
        let json = try JSONValue(parsing: document.encode([try finished()]), limits: JSONLimits(depth: 16))
        let resource = try #require(json["resourceSpans"]?.array?.first)
        #expect(resource["resource"]?["attributes"]?.array?.first?["value"]?["stringValue"]?.string == "test")
        let written = try #require(resource["scopeSpans"]?.array?.first?["spans"]?.array?.first)
        #expect(written["traceId"]?.string == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(written["parentSpanId"]?.string == "00f067aa0ba902b7")
        #expect(written["spanId"]?.string == span.trace.spanID.text)
        #expect(written["kind"] == .integer(2))
        #expect(written["status"]?["code"] == .integer(2))
        #expect(written["links"]?.array?.first?["spanId"]?.string == "00f067aa0ba902b7")
        let start = try #require(written["startTimeUnixNano"]?.string.flatMap { UInt64($0) })
        let end = try #require(written["endTimeUnixNano"]?.string.flatMap { UInt64($0) })
        #expect(start > 1_700_000_000_000_000_000 && end >= start)
        let values = try #require(written["attributes"]?.array)
        #expect(values[0]["value"]?["intValue"]?.string == "503")
        #expect(values[1]["value"]?["stringValue"]?.string == "back\"end\n")
    }
}

/// The page on traces, compared with the spans of the program.
@Suite struct SpanPageTests {
    @Test func `the page has every span, and no other`() throws {
        let root = ProjectFolder.root
        let page = try String(contentsOf: root.appending(path: "docs/tracing.md"), encoding: .utf8)
        let section = try #require(
            page.components(separatedBy: "\n## Spans\n").last?.split(separator: "\n## ").first)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.1) }
        }
        let calls = names.filter { $0.contains("/") }
        #expect(calls == ["POST /v1/sign-ins"])
        #expect(names.filter { !calls.contains($0) }.sorted() == SpanName.allCases.map(\.rawValue).sorted())
    }
}

@Suite struct TraceContextTests {
    static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    static let span = "00f067aa0ba902b7"

    @Test(arguments: [
        ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false),
        // Other flags are reserved, and change nothing.
        ("00-\(trace)-\(span)-03", true), ("00-\(trace)-\(span)-02", false), ("00-\(trace)-\(span)-ff", true),
        // A later version is read as far as version 00 goes.
        ("01-\(trace)-\(span)-01", true), ("cc-\(trace)-\(span)-01-what-the-future-will-be-like", true),
        ("fe-\(trace)-\(span)-00-", false),
    ])
    func `reads a traceparent`(text: String, isSampled: Bool) throws {
        let context = try #require(TraceContext(traceparent: text))
        #expect(context.traceID.text == Self.trace)
        #expect(context.spanID.text == Self.span)
        #expect(context.isSampled == isSampled)
        #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-\(isSampled ? "01" : "00")")
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
        "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-more", "00-\(trace)-\(span)-01 ",
        " 00-\(trace)-\(span)-01", "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01",
        "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
        "0X-\(trace)-\(span)-01",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00_\(trace)_\(span)_01", "00-\(trace)-\(span)-0g", "00-\(trace.dropLast())-\(span)-011",
        "00-\(trace)\(span)--01", "01-\(trace)-\(span)-01x", "00-\(trace)-\(span)-01\u{0}",
        "00-\(trace.dropLast())é-\(span)-1", "00-\(trace)-\(span)-01, 00-\(trace)-\(span)-01",
        "+0-\(trace)-\(span)-01", String(repeating: "0", count: 100_000),
    ])
    func `refuses every other text`(text: String) { #expect(TraceContext(traceparent: text) == nil) }

    @Test func `IDs are written with all their digits`() throws {
        #expect(try #require(TraceID(high: 1, low: 0xA)).text == "0000000000000001000000000000000a")
        #expect(try #require(SpanID(0xFE)).text == "00000000000000fe")
        #expect(TraceID(high: 0, low: 0) == nil)
        #expect(SpanID(0) == nil)
    }

    @Test func `IDs do not repeat`() {
        let ids = TraceIDs()
        #expect(Set((0..<20_000).map { _ in ids.span() }).count == 20_000)
        #expect(Set((0..<20_000).map { _ in ids.trace() }).count == 20_000)
    }

    @Test(arguments: [
        ["a=1"], ["a=1,b=2"], ["a=1 , b=2"], ["a=1", "b=2"], ["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"],
        ["fw529a3039@dt=FfAAAA"], ["1tenant@system=x"], ["a_-*/0=x y"], ["a=1,,b=2,"], ["a=~!@#$%^&*()"],
        [(1...32).map { "k\($0)=v" }.joined(separator: ",")],
    ])
    func `keeps a tracestate that is well formed`(fields: [String]) {
        #expect(TraceState.accept(fields) == fields.joined(separator: ","))
    }

    @Test(arguments: [
        [], [""], [","], ["a"], ["=1"], ["a="], ["A=1"], ["1a=1"], ["a=1=2"], ["a=1,a=2"], ["a b=1"],
        ["@system=1"], ["a@=1"], ["a@b@c=1"], ["a@1system=1"], ["a=é"], ["a=\u{1}"], ["a=1\r\nx: y"],
        ["\(String(repeating: "a", count: 257))=1"], ["a=\(String(repeating: "x", count: 257))"],
        ["a@\(String(repeating: "s", count: 15))=1"],
        [(1...33).map { "k\($0)=v" }.joined(separator: ",")],
        (1...300).map { "k\($0)=v" }, ["a=1", String(repeating: ",", count: 600)],
    ])
    func `drops every other tracestate`(fields: [String]) { #expect(TraceState.accept(fields) == nil) }

    @Test(arguments: [(0.0, 0...0), (0.01, 50...150), (0.5, 4700...5300), (1.0, 10_000...10_000)])
    func `records a share of new traces`(ratio: Double, expected: ClosedRange<Int>) {
        let (sampler, ids) = (TraceSampler(ratio: ratio), TraceIDs(seed: 7))
        let recorded = (0..<10_000).count { _ in sampler.records(ids.trace()) }
        #expect(expected.contains(recorded))
    }
}
