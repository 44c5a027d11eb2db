import Encodings

/// Reason why a certificate is not trusted.
package struct CertificateChainError: CodedError {
    package enum Code: String, Sendable, CaseIterable {
        /// No valid chain of signatures to the trust anchor.
        case untrusted
        case expired
        case notYetValid = "not_yet_valid"
    }

    package let code: Code
    /// OpenSSL's reason.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension CertificateChainError: CustomDebugStringConvertible {
    package var description: String { "certificate: \(code.rawValue)" }
    package var debugDescription: String { "\(description) (\(detail))" }
}
