import Foundation
public import Testing

extension TimeLimitTrait.Duration {
    /// Ends a test that hangs, so that its lane goes on and names it. Says nothing about speed: a machine that is busy with
    /// other work can be ten times as slow, and a test of the lane `pure` waits for its turn beside all others of the lane.
    ///
    /// `scripts/test-lanes` sets `SIWA_TEST_MINUTES`. The default is five minutes.
    public static var hung: Self {
        .minutes(
            ProcessInfo.processInfo.environment["SIWA_TEST_MINUTES"].flatMap { Int($0) }.map { max(1, $0) }
                ?? 5)
    }
}
