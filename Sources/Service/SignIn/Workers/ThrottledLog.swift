package import AppleAccounts
package import Logging
import Synchronization

/// The log of a worker: each line at most once a minute (`LogThrottle`), with the number of lines left out.
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
