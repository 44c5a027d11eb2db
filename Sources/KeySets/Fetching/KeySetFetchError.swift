public import Encodings

/// Reason of a fetch without a usable key set. Match on `code`; equality is on `code`.
public struct KeySetFetchError: CodedError {
    /// A closed list, so that it can label a metric.
    public enum Code: String, Sendable, CaseIterable {
        /// The connection could not be made, or it broke.
        case unreachable
        case timedOut = "timed_out"
        /// Neither 200 nor a 304 to a conditional request. Redirects are not followed.
        case statusUnexpected = "status_unexpected"
        case empty
        /// More than 64 KiB.
        case tooLarge = "too_large"
        /// A web page: an error page, a maintenance notice, a captive portal.
        case html
        /// Not a JSON Web Key Set.
        case malformed
        /// A key set in which no key may be used for verification.
        case noUsableKey = "no_usable_key"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension KeySetFetchError: CustomDebugStringConvertible {
    public var description: String { "key set not fetched: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
