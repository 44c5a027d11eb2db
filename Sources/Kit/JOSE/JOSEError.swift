public import Encodings

/// Refusal of a JWS, a key or a key set, or failure to create it. Match on `code`.
///
/// `detail` may repeat parts of the input: it is for a debugger, never for a log or a response.
public struct JOSEError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// Not three non-empty segments of strict base64url.
        case jwsMalformed = "jws_malformed"
        /// `alg` is not the pinned algorithm.
        case algorithmNotAllowed = "algorithm_not_allowed"
        /// The header has a parameter that changes the interpretation of the token, or contains a key.
        case headerNotAllowed = "header_not_allowed"
        /// `kid` is absent, empty, too long or not a string.
        case keyIDInvalid = "key_id_invalid"
        /// A key that must not be used: wrong size, even modulus, wrong exponent, unreadable PEM.
        case keyUnusable = "key_unusable"
        /// Not a JSON Web Key Set.
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
