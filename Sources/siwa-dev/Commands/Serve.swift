import AppAttestation
import AppleEmulator
import ArgumentParser
import Certificates
import Composition

/// `siwa-dev serve`: the siwa service, which also trusts the fake Apple's roots in development with
/// `APPLE_BASE_URL`.
struct Serve: AsyncParsableCommand {
    static let configuration = ServiceRun.configuration

    func run() async throws {
        try await ServiceRun.run { settings throws(ConfigurationMistakes) in settings.fakeRoots = .fake }
    }
}

extension AppAttestRoots {
    /// The fake Apple's roots. Any program can sign under them, because their private keys are in the fake
    /// Apple's source code.
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
