import AppleAccounts
import Testing
import Tracing

@testable import Commits
@testable import TraceExport

@Suite struct CommitSpansTests {
    let recorder = SpanRecorder(sampler: TraceSampler(ratio: 1))

    private func finished() throws -> FinishedSpan {
        try #require(recorder.queue.take(atMost: 1).spans.first)
    }

    @Test func `a transaction belongs to its first recorded request, and links to the others`() throws {
        let requests = (0..<3).map {
            recorder.startSpan("request \($0)", context: .topLevel, ofKind: .server)
        }
        let spans = CommitSpans(.commitGrants, recorder)
        let span = try #require(spans.begin([nil] + requests.map { Optional($0.context) } + [nil]))
        CommitSpans.end(span, Result<Int, any Error>.success(1))
        let ended = try finished()
        #expect(ended.name == "commit grants" && ended.kind == .client && !ended.isFailed)
        #expect(ended.parent == requests[0].trace.spanID && ended.trace.traceID == requests[0].trace.traceID)
        #expect(ended.links.map(\.spanID) == requests.dropFirst().map(\.trace.spanID))
        #expect(ended.attributes.map(\.name) == ["siwa.commands"])
        #expect(ended.attributes.first?.value == .number(5))
    }

    @Test func `a transaction that fails has the code of the error`() throws {
        let request = recorder.startSpan("request", context: .topLevel)
        let span = try #require(CommitSpans(.commitAccounts, recorder).begin([request.context]))
        CommitSpans.end(span, Result<Int, any Error>.failure(StorageError(.full, detail: "disk")))
        let ended = try finished()
        #expect(ended.isFailed)
        #expect(
            ended.attributes.contains {
                $0.name == "error.type" && $0.value == .text(StorageError.Code.full.rawValue)
            })
    }

    @Test func `a transaction without a recorded request has no span`() {
        #expect(CommitSpans(.commitAccounts, recorder).begin([nil, nil]) == nil)
    }
}
