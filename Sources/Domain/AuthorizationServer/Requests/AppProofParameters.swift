public import Cryptography

/// Statements of a token request about the app that it comes from. Nothing of it is verified, and no value of it
/// makes the request malformed.
public struct AppProofParameters: Sendable, Confidential {
    /// The proof of App Attest; `nil` when the request has none of its parameters.
    public let proof: Proof?
    public let appVersion: String?

    public struct Proof: Sendable, Confidential {
        public let keyID: String?
        public let assertion: String?
        public let clientData: String?
        /// SHA-256 of all other parameters in their canonical form. `nil` when a parameter cannot be decoded.
        public let requestDigest: SHA256Digest?
    }

    private static let parameters: [RequestParameter] = [
        .attestationKeyID, .attestationAssertion, .attestationClientData,
    ]

    init(_ reader: ParameterReader) {
        func text(_ parameter: RequestParameter) -> String? { (try? reader.hint(parameter)) ?? nil }
        appVersion = text(.appVersion)
        let isPresent = Self.parameters.contains { reader.parameters[$0.rawValue] != .absent }
        guard isPresent else {
            proof = nil
            return
        }
        proof = Proof(
            keyID: text(.attestationKeyID), assertion: text(.attestationAssertion),
            clientData: text(.attestationClientData),
            requestDigest: reader.parameters.canonicalText(without: Self.parameters)
                .map { SHA256Digest.hash($0) })
    }
}
