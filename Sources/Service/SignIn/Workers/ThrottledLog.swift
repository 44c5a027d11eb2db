package import AppleAccounts
package import Logging
import Synchronization

/// The log of a worker: each line at most once a minute (`LogThrottle`), with the number of omitted lines.
/// While the database or Apple is unavailable, all work fails in the same way.
package final class ThrottledLog: Sendable {
    private let logger: Logger
    private let throttle = Mutex(LogThrottle())

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameters:
    ///   - error: Part of the line. Lines with different errors are different.
    ///   - place: Further text that distinguishes lines, for example a client ID. Must have few values.
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

/// Prevents a fault of every token from filling the log: each cause is logged at once and then at most once a
/// minute, with the number of omitted lines. Does no I/O and reads no clock.
package struct LogThrottle: Sendable {
    /// Milliseconds between two log lines of one cause.
    static let interval: Int64 = 60_000
    /// Largest number of causes. They consist of client IDs and error codes, so there are few.
    static let mostCauses = 256

    private struct Entry {
        var loggedAt: Moment
        var leftOut = 0
    }

    private var causes: [String: Entry] = [:]

    package init() {}

    /// Returns `nil` if the cause must not be logged yet,
    /// else the number of lines omitted since its last line.
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
