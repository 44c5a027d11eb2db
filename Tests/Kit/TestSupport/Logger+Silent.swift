public import Logging

extension Logger {
    /// Discards log lines, for servers and stores that a test stops or breaks.
    public static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
