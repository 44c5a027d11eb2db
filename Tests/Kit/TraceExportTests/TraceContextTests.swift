import Testing

@testable import TraceExport

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
    func `refuses every other text`(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

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
    func `drops every other tracestate`(fields: [String]) {
        #expect(TraceState.accept(fields) == nil)
    }

    @Test(arguments: [(0.0, 0...0), (0.01, 50...150), (0.5, 4700...5300), (1.0, 10_000...10_000)])
    func `records a share of new traces`(ratio: Double, expected: ClosedRange<Int>) {
        let (sampler, ids) = (TraceSampler(ratio: ratio), TraceIDs(seed: 7))
        let recorded = (0..<10_000).count { _ in sampler.records(ids.trace()) }
        #expect(expected.contains(recorded))
    }
}
