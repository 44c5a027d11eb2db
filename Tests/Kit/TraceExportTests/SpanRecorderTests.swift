import Encodings
import StrictJSON
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
        let json = try JSONValue(
            parsing: document.encode([try finished()]), limits: JSONLimits(depth: 16))
        let resource = try #require(json["resourceSpans"]?.array?.first)
        #expect(
            resource["resource"]?["attributes"]?.array?.first?["value"]?["stringValue"]?.string == "test")
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
