/// Where security event tokens for Google go (`events:report`). The adapter is an HTTP client.
public protocol SecurityEventReporting: Sendable {
    /// Posts one token, and returns when it was accepted (202). Ends within its own time limit.
    ///
    /// - Throws: `SecurityEventReportError`. The token may have arrived all the same; a repetition has the
    ///   same `jti`.
    func report(_ token: String) async throws
}

/// Why a security event token was not accepted.
public struct SecurityEventReportError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// No connection, or it broke, or no answer in time.
        case unreachable
        /// Google answered with another status than 202.
        case refused
    }

    public let code: Code
    /// The status of the answer.
    public let status: Int?

    public init(_ code: Code, status: Int? = nil) {
        (self.code, self.status) = (code, status)
    }
}

extension SecurityEventReportError: CustomStringConvertible {
    public var description: String {
        "security event not reported: \(code.rawValue)" + (status.map { " with status \($0)" } ?? "")
    }
}
