import Foundation

/// An emulator's clock, which returns the time and sleeps. Tests control both.
public struct EmulatorClock: Sendable {
    /// Returns the current time in milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// Returns after this many milliseconds. Throws if the task is cancelled.
    public let sleep: @Sendable (_ milliseconds: Int64) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = Self.sleepReally
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    public static let system = EmulatorClock(now: { Int64(Date().timeIntervalSince1970 * 1000) })

    public static let sleepReally: @Sendable (_ milliseconds: Int64) async throws -> Void = {
        try await Task.sleep(for: .milliseconds($0))
    }
}
