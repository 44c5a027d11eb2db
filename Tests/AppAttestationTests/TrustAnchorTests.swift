import AppAttestation
import AttestationMint
import Certificates
import Testing

@Suite struct TrustAnchorTests {
    @Test func `many threads verify with one root at the same time`() async throws {
        let minted = try Minted.shared.get()
        let object = try minted.mint.attestation(minted.parts)
        let foreign = try AttestationMint().attestation(minted.parts)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try minted.verify(object)
                        #expect(throws: AppAttestationError(.chainUntrusted)) { try minted.verify(foreign) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `is not made of text without a certificate`(pem: String) {
        #expect(TrustAnchor(pem: pem) == nil)
    }
}
