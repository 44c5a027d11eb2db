package import AppleAccounts

/// Keeps a fault that concerns every token from filling the log: each cause is logged at once and then at
/// most once a minute, with the number of log lines left out. Does no I/O and reads no clock.
package struct LogThrottle: Sendable {
    /// Milliseconds between two log lines of one cause.
    static let interval: Int64 = 60_000
    /// Bound on the causes. They are made of client IDs and error codes, so there are few in any case.
    static let mostCauses = 256

    private struct Entry {
        var loggedAt: Moment
        var leftOut = 0
    }

    private var causes: [String: Entry] = [:]

    package init() {}

    /// Returns `nil` when the cause must not be logged yet, else the number of lines left out since it was
    /// logged last.
    package mutating func admit(_ cause: String, at now: Moment) -> Int? {
        guard var entry = causes[cause] else {
            if causes.count >= Self.mostCauses { causes = [:] }
            causes[cause] = Entry(loggedAt: now)
            return 0
        }
        let elapsed = now.milliseconds - entry.loggedAt.milliseconds
        // A clock that was set back must not silence the cause.
        guard elapsed < 0 || elapsed >= Self.interval else {
            entry.leftOut += 1
            causes[cause] = entry
            return nil
        }
        causes[cause] = Entry(loggedAt: now)
        return entry.leftOut
    }
}
