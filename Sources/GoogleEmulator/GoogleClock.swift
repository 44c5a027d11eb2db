import Foundation

/// The clock of the fake Google: the current time, and sleeping. Tests control both.
public struct GoogleClock: Sendable {
    /// Milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// Returns after this many milliseconds, or throws when the task is cancelled.
    public let sleep: @Sendable (_ milliseconds: Int64) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The system's clock.
    public static let system = GoogleClock(
        now: { Int64(Date().timeIntervalSince1970 * 1000) },
        sleep: { try await Task.sleep(for: .milliseconds($0)) })
}
