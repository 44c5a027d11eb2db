/// Sends security event tokens to Google (`events:report`). The adapter is an HTTP client.
public protocol SecurityEventReporting: Sendable {
    /// Posts one token, and returns when it was accepted (202). Ends within its own time limit.
    ///
    /// - Throws: `SecurityEventReportError`. The token may still have arrived; a repetition has the same
    ///   `jti`.
    func report(_ token: String) async throws
}

/// Reasons for which a security event token was not accepted.
public struct SecurityEventReportError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// No connection was made, or it was lost, or no response came in time.
        case unreachable
        /// Google responded with a status other than 202.
        case refused
    }

    public let code: Code
    /// The status of the response.
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
