import AppAttestation
import AppleAccounts
import Certificates
import Testing

@testable import siwa

@Suite struct ReceiptSettingsTests {
    private func settings(
        _ environment: ServiceEnvironment, baseURL: String
    ) throws -> ServiceSettings {
        var settings = try DevelopmentSettings(
            clientIDs: ["com.example.app"], port: 0, applePort: 8081, secret: "secret",
            database: "sqlite:///tmp/siwa.sqlite"
        ).settings()
        (settings.environment, settings.keySource) = (environment, .remote(baseURL: baseURL))
        return settings
    }

    @Test func `the fake Apple's roots are trusted in development with its address`() throws {
        let roots = try settings(.development, baseURL: "http://127.0.0.1:8081").appAttestRoots
        #expect(roots.attestation === TrustAnchor.emulatedAppAttestation)
        #expect(roots.receipt === TrustAnchor.emulatedRootG3)
    }

    @Test func `everything else trusts Apple's roots alone`() throws {
        for (environment, baseURL) in [
            (ServiceEnvironment.development, KeySource.apple), (.production, KeySource.apple),
            (.production, "http://127.0.0.1:8081"),
        ] {
            let roots = try settings(environment, baseURL: baseURL).appAttestRoots
            #expect(roots.attestation === TrustAnchor.appleAppAttestation)
            #expect(roots.receipt === TrustAnchor.appleRootG3)
        }
    }

    @Test func `receipts are exchanged on request only, and need two keys`() async throws {
        let plain = try await SettingsReaderTests.read(SettingsReaderTests.minimal)
        #expect(plain.receipts == .off && plain.exchangedReceipts == nil)
        let name = "SIWA_APP_ATTEST_RECEIPTS"
        #expect(try await SettingsReaderTests.mistakes([name: "on"]) == [name, name])
        #expect(try await SettingsReaderTests.mistakes([name: "yes"]) == [name])
    }
}
