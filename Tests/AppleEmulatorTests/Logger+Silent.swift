import Logging

extension Logger {
    /// The servers are stopped by cancelling them, which they would report as errors.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
