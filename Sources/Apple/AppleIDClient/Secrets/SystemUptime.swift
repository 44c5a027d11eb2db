/// The time since the first call in the process, by a monotonic clock.
public enum SystemUptime {
    private static let start = ContinuousClock.now

    public static let elapsed: @Sendable () -> Duration = { start.duration(to: .now) }
}
