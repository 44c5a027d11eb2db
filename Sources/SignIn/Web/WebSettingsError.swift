public import CodedErrors

/// The web relay cannot work with these settings.
public struct WebSettingsError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// Not an `https` address without query, fragment and user information.
        case publicURLMalformed
        /// Not an `https` address without fragment and user information. The detail names the client ID.
        case redirectURLMalformed
        /// No client ID has a page to come back to.
        case redirectURLsMissing
        case authorizeURLMalformed
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String) { (self.code, self.detail) = (code, detail) }
}

extension WebSettingsError: CustomDebugStringConvertible {
    public var description: String { "web relay not configured: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
