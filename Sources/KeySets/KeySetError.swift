public import Encodings

/// Reason for a missing key. Match on `code`; equality is on `code`.
public struct KeySetError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The set was fetched recently and has no usable key with this ID: the token is not Apple's.
        case unknownKey = "unknown_key"
        /// There is no usable set, or the latest attempt to refresh it failed. The token may be Apple's; the
        /// caller should retry later.
        case keysUnavailable = "keys_unavailable"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension KeySetError: CustomDebugStringConvertible {
    public var description: String { "no verification key: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
