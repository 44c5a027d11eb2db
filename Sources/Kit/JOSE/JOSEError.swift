public import Encodings

/// Reason a JWS, a key or a key set was refused, or could not be created. Match on `code`.
///
/// `detail` may repeat parts of the input, so it is only for debugging, never for a log or a response.
public struct JOSEError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The text is not three non-empty segments of strict base64url.
        case jwsMalformed = "jws_malformed"
        /// `alg` is not the pinned algorithm.
        case algorithmNotAllowed = "algorithm_not_allowed"
        /// The header contains a key, or a parameter that changes how the token is interpreted.
        case headerNotAllowed = "header_not_allowed"
        /// `kid` is absent, empty, too long or not a string.
        case keyIDInvalid = "key_id_invalid"
        /// The key is unsafe or unreadable: wrong size, even modulus, wrong exponent, unreadable PEM.
        case keyUnusable = "key_unusable"
        /// The document is not a JSON Web Key Set.
        case keySetMalformed = "key_set_malformed"
        /// The signing library failed.
        case signingFailed = "signing_failed"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension JOSEError: CustomDebugStringConvertible {
    public var description: String { "JOSE: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
