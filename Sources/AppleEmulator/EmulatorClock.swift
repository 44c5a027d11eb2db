import Foundation

/// The time by which the emulator signs, and the waiting that its delays do. Tests travel in both.
public struct EmulatorClock: Sendable {
    /// Milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// Returns after that many milliseconds, or throws when the task is cancelled.
    public let sleep: @Sendable (_ milliseconds: Int64) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = Self.sleepReally
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The clock of this machine.
    public static let system = EmulatorClock(now: { Int64(Date().timeIntervalSince1970 * 1000) })

    /// A moment as the control API answers it: RFC 3339 in UTC, always with milliseconds.
    static func text(of milliseconds: Int64) -> String {
        // The fraction is put in as digits, because a floating-point second would lose one of them.
        let second = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601).dropLast()
        return "\(second).\(String(milliseconds % 1000 + 1000).dropFirst())Z"
    }

    public static let sleepReally: @Sendable (_ milliseconds: Int64) async throws -> Void = {
        try await Task.sleep(for: .milliseconds($0))
    }
}
