public import Encodings

/// Refusal of a request that does not prove that it comes from the genuine app. Only enforced mode refuses.
public struct AppCheckRefusal: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The request has no proof.
        case attestationRequired = "attestation_required"
        /// The proof does not hold.
        case attestationInvalid = "attestation_invalid"
    }

    public let code: Code
    public let cause: AppCheckCause

    public init(_ code: Code, cause: AppCheckCause) {
        (self.code, self.cause) = (code, cause)
    }
}

extension AppCheckRefusal {
    /// The refusal for developers of callers and apps: printable ASCII without quotation marks.
    public var explanation: String {
        switch code {
        case .attestationRequired: "The request must have a proof of App Attest, and has none."
        case .attestationInvalid:
            cause == .proofMalformed
                ? "The proof of App Attest is malformed. Key ID, attestation and assertion are base64 with "
                    + "padding (RFC 4648 section 4), as the device makes them, and not base64url."
                : "The proof of App Attest does not hold. With re_attest the app makes a new key and attests it."
        }
    }

    public var description: String { "app check refused: \(code.rawValue) (\(cause.code))" }
}
