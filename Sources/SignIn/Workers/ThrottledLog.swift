package import AppleAccounts
package import Logging
import Synchronization

/// The log of a worker: the same line at most once a minute (`LogThrottle`), with the number that was left
/// out. While the database or Apple is away every piece of work fails in the same way.
package final class ThrottledLog: Sendable {
    private let logger: Logger
    private let throttle = Mutex(LogThrottle())

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameters:
    ///   - error: Stands in the line. Lines with different errors are different.
    ///   - place: What else tells this line from others, a client ID say. It must be one of few.
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
