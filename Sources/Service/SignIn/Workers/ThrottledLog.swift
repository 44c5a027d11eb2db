package import AppleAccounts
package import Logging
import Synchronization

/// A worker's log. It logs each line at most once a minute (`LogThrottle`) together with the number of
/// omitted lines, because all work fails in the same way while the database or Apple is unavailable.
package final class ThrottledLog: Sendable {
    private let logger: Logger
    private let throttle = Mutex(LogThrottle())

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameters:
    ///   - error: The error to log. Lines with different errors are throttled separately.
    ///   - place: An additional string, such as a client ID, for which lines are throttled separately. It
    ///     must have only a few different values.
    package func tell(
        _ message: Logger.Message, about error: (any Error)?, of place: String = "",
        level: Logger.Level = .warning, at moment: Moment, metadata: Logger.Metadata = [:]
    ) {
        let cause = "\(message) \(place) \(error.map { "\($0)" } ?? "")"
        guard let leftOut = throttle.withLock({ $0.admit(cause, at: moment) }) else { return }
        var metadata = metadata
        if let error, metadata["error"] == nil { metadata["error"] = "\(error)" }
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        logger.log(level: level, message, metadata: metadata)
    }
}

/// Prevents repeated faults from filling the log. Logs each cause immediately and then at most once a minute,
/// with the number of omitted lines. Does no I/O and reads no clock.
package struct LogThrottle: Sendable {
    /// Minimum time between two log lines about a cause, in milliseconds.
    static let interval: Int64 = 60_000
    /// Maximum number of causes. A cause consists of a client ID and an error code, so there are only a few.
    static let mostCauses = 256

    private struct Entry {
        var loggedAt: Moment
        var leftOut = 0
    }

    private var causes: [String: Entry] = [:]

    package init() {}

    /// Returns the number of lines that were omitted since the cause was last logged; `nil` if the cause must
    /// not be logged yet.
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
