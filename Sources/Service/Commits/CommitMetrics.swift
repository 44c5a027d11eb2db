import AppleAccounts
import Metrics
import TraceExport
public import Tracing

/// Metrics of a commit queue, recorded once per transaction. The average batch size is the number of commands
/// divided by the number of commits.
@usableFromInline
struct CommitMetrics: Sendable {
    private let commits: Counter
    private let failures: Counter
    private let commands: Counter
    private let failedCommands: Counter
    private let duration: Timer

    /// - Parameter prefix: Prefix of this queue's metric names.
    init(prefix: String, factory: any MetricsFactory) {
        func counter(_ name: String, _ result: String) -> Counter {
            Counter(label: "\(prefix)_\(name)", dimensions: [("result", result)], factory: factory)
        }
        commits = counter("commits", "ok")
        failures = counter("commits", "failed")
        commands = counter("commands", "ok")
        failedCommands = counter("commands", "failed")
        duration = Timer(
            label: "\(prefix)_commit_seconds", preferredDisplayUnit: .seconds, factory: factory)
    }

    @usableFromInline
    func committed(_ count: Int, in time: Duration) {
        commits.increment()
        commands.increment(by: count)
        duration.record(duration: time)
    }

    @usableFromInline
    func failed(_ count: Int) {
        failures.increment()
        failedCommands.increment(by: count)
    }
}

/// Records a span for each transaction that a recorded request waits for. The first waiting request is the
/// parent of the span, and the span links to all other waiting requests.
@usableFromInline
struct CommitSpans: Sendable {
    private let name: SpanName
    private let tracer: any Tracer

    init(_ name: SpanName, _ tracer: any Tracer) {
        (self.name, self.tracer) = (name, tracer)
    }

    /// - Parameter waiting: The spans of all commands in the transaction.
    /// - Returns: `nil` if no command has a span.
    @usableFromInline
    func begin(_ waiting: some Sequence<ServiceContext?>) -> (any Span)? {
        var (span, count): ((any Span)?, Int64) = (nil, 0)
        for context in waiting {
            count += 1
            guard let context else { continue }
            if let span {
                span.addLink(SpanLink(context: context, attributes: [:]))
            } else {
                span = start(tracer, context)
            }
        }
        if let span {
            var attributes = span.attributes
            attributes.set("siwa.commands", value: .int64(count))
            span.attributes = attributes
        }
        return span
    }

    private func start(_ tracer: some Tracer, _ context: ServiceContext) -> any Span {
        tracer.startSpan(name.rawValue, context: context, ofKind: .client)
    }

    @usableFromInline
    static func end(_ span: any Span, _ result: Result<some Any, any Error>) {
        if case .failure(let error) = result {
            var attributes = span.attributes
            attributes.set(
                "error.type",
                value: .string(
                    (error as? StorageError)?.code.rawValue ?? String(describing: type(of: error))))
            span.attributes = attributes
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
    }
}
