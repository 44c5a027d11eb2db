import AppAttestation
import AppleEmulator
import ArgumentParser
import Certificates
import Composition

/// `siwa-dev serve`: the service of siwa, which also trusts the
/// roots of the fake Apple in development with `APPLE_BASE_URL`.
struct Serve: AsyncParsableCommand {
    static let configuration = ServiceRun.configuration

    func run() async throws {
        try await ServiceRun.run { settings throws(ConfigurationMistakes) in settings.fakeRoots = .fake }
    }
}

extension AppAttestRoots {
    /// The roots of the fake Apple. Any program can sign under these roots, because their private keys are in
    /// the source of the fake Apple.
    static let fake = AppAttestRoots(
        attestation: .fixed(.attestation), receipt: .fixed(.receipts))
}

extension TrustAnchor {
    fileprivate static func fixed(_ root: FakeRoot) -> TrustAnchor {
        guard let anchor = TrustAnchor(pem: root.certificatePEM) else {
            preconditionFailure("libcrypto cannot read the root")
        }
        return anchor
    }
}
