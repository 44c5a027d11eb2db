import Foundation

/// The clock of the emulator: the current time, and sleeping. Tests control both.
public struct EmulatorClock: Sendable {
    /// Milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// Returns after this many milliseconds, or throws when the task is cancelled.
    public let sleep: @Sendable (_ milliseconds: Int64) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = Self.sleepReally
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The system's clock.
    public static let system = EmulatorClock(now: { Int64(Date().timeIntervalSince1970 * 1000) })

    /// The format of times in the control API: RFC 3339 in UTC, always with milliseconds.
    static func text(of milliseconds: Int64) -> String {
        // The milliseconds are appended as digits, because a floating-point second would lose precision.
        let second = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601).dropLast()
        return "\(second).\(String(milliseconds % 1000 + 1000).dropFirst())Z"
    }

    public static let sleepReally: @Sendable (_ milliseconds: Int64) async throws -> Void = {
        try await Task.sleep(for: .milliseconds($0))
    }
}
