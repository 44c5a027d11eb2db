public import Encodings

/// Reasons for which a receiver refuses a message.
public struct MessageRefusal: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case bodyTooLarge = "body_too_large"
        /// Another content type than that of the receiver.
        case typeMismatch = "type_mismatch"

        // Webhooks.

        /// `webhook-id`, `webhook-timestamp` or `webhook-signature` is absent or malformed.
        case fieldMalformed = "field_malformed"
        /// `webhook-timestamp` differs too much from the clock.
        case timestampStale = "timestamp_stale"

        // Security event tokens.

        case tokenMalformed = "token_malformed"
        /// Header with another `typ` or `alg`, or with a parameter that changes how the token is read.
        case headerRefused = "header_refused"
        case issuerMismatch = "issuer_mismatch"
        case keyUnknown = "key_unknown"
        /// The published keys could not be fetched.
        case keysUnavailable = "keys_unavailable"
        case audienceMismatch = "audience_mismatch"
        /// `iat` is absent or in the future, or there is an `exp`.
        case timeRefused = "time_refused"

        // Both.

        case signatureInvalid = "signature_invalid"
        case eventMalformed = "event_malformed"
        /// The message and its event have different IDs.
        case idMismatch = "id_mismatch"
    }

    public let code: Code
    /// Text for developers. It repeats nothing of the message.
    public let description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    /// The status of the answer.
    var status: Int {
        switch code {
        case .bodyTooLarge: 413
        case .typeMismatch: 415
        // The message may be good, so it should come again.
        case .keysUnavailable: 503
        case .fieldMalformed, .timestampStale, .tokenMalformed, .headerRefused, .issuerMismatch, .keyUnknown,
            .audienceMismatch, .timeRefused, .signatureInvalid, .eventMalformed, .idMismatch:
            400
        }
    }

    /// `err` of the answer to a pushed token (RFC 8935 §2.4).
    var pushError: String {
        switch code {
        case .keyUnknown, .keysUnavailable: "invalid_key"
        case .issuerMismatch: "invalid_issuer"
        case .audienceMismatch: "invalid_audience"
        case .signatureInvalid: "authentication_failed"
        case .bodyTooLarge, .typeMismatch, .fieldMalformed, .timestampStale, .tokenMalformed, .headerRefused,
            .timeRefused, .eventMalformed, .idMismatch:
            "invalid_request"
        }
    }
}
