/// The time since the process first asked, by a clock that nobody sets.
public enum SystemUptime {
    private static let start = ContinuousClock.now

    public static let now: @Sendable () -> Duration = { start.duration(to: .now) }
}
