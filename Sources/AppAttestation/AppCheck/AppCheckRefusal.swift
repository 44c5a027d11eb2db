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
    public var description: String { "app check refused: \(code.rawValue) (\(cause.code))" }
}
