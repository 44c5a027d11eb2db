import Certificates
import Encodings

/// Refuses a receipt whose signer is not under the pinned root, or not valid at this time.
struct ReceiptSignerCheck: Sendable {
    let root: TrustAnchor

    /// - Parameter now: Milliseconds since 1970.
    func check(_ message: borrowing SignedMessage, at now: Int64) throws(ReceiptError) {
        do throws(CertificateChainError) {
            try message.checkSigner(under: root, at: now / 1000)
        } catch {
            let code: ReceiptError.Code =
                switch error.code {
                case .untrusted: .chainUntrusted
                case .expired: .certificateExpired
                case .notYetValid: .certificateNotYetValid
                }
            throw ReceiptError(
                code, found: error.detail, expected: "a signer under the pinned root, valid at this time")
        }
    }
}
