public import Logging

extension Logger {
    /// For servers and stores that a test stops or breaks, which they would report as errors.
    public static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
