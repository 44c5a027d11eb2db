import Foundation
public import Testing

/// The error for a condition that did not become true in time.
public struct NeverTrue: Error, CustomStringConvertible {
    public let description: String
}

/// Waits until a condition holds.
///
/// The first checks only yield to the executor, because most conditions hold as soon as other tasks have run.
/// Later checks are up to 40 ms apart, so that waiting leaves the processor to the awaited work.
///
/// - Throws: `NeverTrue` if the condition does not hold within `bound`; any error of the condition;
///   `CancellationError`.
public func eventually(
    within bound: Duration = .seconds(60), _ condition: () async throws -> Bool, file: String = #fileID,
    line: Int = #line
) async throws {
    let start = ContinuousClock.now
    let end = start + bound
    // Not for a condition that asks a server.
    while ContinuousClock.now < start + .milliseconds(5) {
        if try await condition() { return }
        try Task.checkCancellation()
        await Task.yield()
    }
    var pause = Duration.milliseconds(1)
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(40))
    }
    if try await condition() { return }
    throw NeverTrue(description: "\(file):\(line): expected a condition to become true within \(bound)")
}

extension TimeLimitTrait.Duration {
    /// Ends a hanging test, so that its lane continues and reports it by name. It is no speed limit: a busy
    /// machine can be ten times slower, and a test of the `pure` lane takes turns with all others of the
    /// lane.
    ///
    /// The limit is `SIWA_TEST_MINUTES`, which `scripts/test-lanes` sets, or else five minutes.
    public static var hung: Self {
        .minutes(
            ProcessInfo.processInfo.environment["SIWA_TEST_MINUTES"].flatMap { Int($0) }.map { max(1, $0) }
                ?? 5)
    }
}
