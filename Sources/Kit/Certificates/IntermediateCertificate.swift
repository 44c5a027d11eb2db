import Cryptography

/// The intermediate certificate of a chain, as `TrustAnchor.intermediate` finds or reads it.
package struct IntermediateCertificate {
    enum State {
        case verified(VerifiedIntermediate)
        case unverified(Reading, SHA256Digest)
    }

    /// A certificate that is read, and nothing more.
    final class Reading {
        let handle: CertificateHandle

        init(_ handle: consuming CertificateHandle) { self.handle = handle }
    }

    let state: State
}
