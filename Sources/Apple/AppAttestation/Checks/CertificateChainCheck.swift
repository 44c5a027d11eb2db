import Certificates
import Encodings

/// Refuses certificates that the pinned root has not issued, or that are not valid at this time.
///
/// Only the root is pinned: Apple's intermediate certificate ends in 2030. There is no revocation, because
/// Apple's certificates name no list and no responder.
struct CertificateChainCheck: Sendable {
    let root: TrustAnchor

    /// - Parameter now: Seconds since 1970.
    func check(
        _ certificates: borrowing AttestationCertificates, at now: Int64
    ) throws(AppAttestationError) {
        do throws(CertificateChainError) {
            try root.check(certificates.leaf, through: certificates.intermediate, at: now)
        } catch {
            let validity = certificates.leaf.validity()
            switch error.code {
            case .untrusted:
                throw AppAttestationError(
                    .chainUntrusted, found: error.detail,
                    expected: "a leaf and an intermediate certificate under the pinned root")
            case .expired:
                throw AppAttestationError(
                    .certificateExpired, found: "valid until \(Self.text(validity?.end))",
                    expected: "valid at \(Self.text(now))")
            case .notYetValid:
                throw AppAttestationError(
                    .certificateNotYetValid, found: "valid from \(Self.text(validity?.begin))",
                    expected: "valid at \(Self.text(now))")
            }
        }
    }

    private static func text(_ seconds: Int64?) -> String {
        // The range of the text's years.
        guard let seconds, (0...253_402_300_799).contains(seconds) else { return "another time" }
        return RFC3339.text(milliseconds: seconds * 1000)
    }
}
