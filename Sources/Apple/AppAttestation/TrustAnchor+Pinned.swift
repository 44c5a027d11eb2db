import Certificates

extension TrustAnchor {
    /// Reads a root that is part of the source.
    static func pinned(_ pem: String) -> TrustAnchor {
        guard let root = TrustAnchor(pem: pem) else { preconditionFailure("libcrypto cannot read the root") }
        return root
    }
}
