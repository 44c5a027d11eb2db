public import Encodings

/// A refusal of a security event token (RFC 8935 §2.4).
public struct SecurityEventError: CodedError {
    /// The words on the wire.
    public enum Code: String, Sendable, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidKey = "invalid_key"
        case invalidIssuer = "invalid_issuer"
        case invalidAudience = "invalid_audience"
    }

    public let code: Code
    /// Text for the sender. It repeats nothing of the token.
    public let description: String

    public init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}
