import AppAttestation
import AttestationMint
import Foundation
import JOSE
import Testing

/// Checks receipts that Apple signed.
@Suite struct RealReceiptTests {
    private func parts(
        of real: RealAttestation
    ) throws -> (
        attestation: VerifiedAttestation, verifier: ReceiptVerifier, now: Int64, origin: ReceiptOrigin
    ) {
        let appID = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId))
        let environment = try #require(AttestationEnvironment(rawValue: real.environment))
        let hashed = try Array(#require(real.clientDataHash))
        let hash = try #require(ClientDataHash(bytes: hashed))
        let now = try Int64(#require(real.verifyAt).timeIntervalSince1970)
        let attestation = try AttestationVerifier(
            root: .appleAppAttestation, appID: appID, platform: .iOS, environment: environment
        ).verify(
            UnverifiedAttestation(Array(#require(real.attestation))),
            keyID: #require(AttestedKeyID(base64: real.keyId)), clientDataHash: hash, at: now)
        let verifier = ReceiptVerifier(root: .appleRootG3, appID: appID, environment: environment)
        return (attestation, verifier, now * 1000, .attestation(hash))
    }

    private func verify(_ real: RealAttestation, _ bytes: [UInt8]? = nil) throws -> VerifiedReceipt {
        let (attestation, verifier, now, origin) = try parts(of: real)
        return try verifier.verify(
            UnverifiedReceipt(bytes ?? attestation.receipt), of: attestation.publicKey, from: origin, at: now)
    }

    @Test(arguments: try RealAttestation.attested())
    func `accepts the receipts whose signature holds, and refuses the others`(real: RealAttestation) throws {
        let known = try #require(real.receipt)
        guard known.cmsSignatureVerifies else {
            // Receipts from before 2020-10-22, and one receipt with a changed certificate.
            let error = #expect(throws: ReceiptError.self) { try verify(real) }
            #expect(error?.code == .signatureInvalid || error?.code == .chainUntrusted)
            return
        }
        let verified = try verify(real)
        #expect(verified.kind.rawValue == known.type)
        #expect(verified.environment.rawValue == real.environment)
        #expect(verified.riskMetric == nil && verified.notBefore == nil)
        #expect(verified.expiresAt - verified.createdAt == 90 * 86_400_000)
    }

    @Test(arguments: try RealAttestation.attested())
    func `no changed byte changes what is accepted`(real: RealAttestation) throws {
        guard real.receipt?.cmsSignatureVerifies == true else { return }
        let (attestation, verifier, now, origin) = try parts(of: real)
        let original = try verify(real)
        for index in stride(from: 0, to: attestation.receipt.count, by: 13) {
            var changed = attestation.receipt
            changed[index] ^= 1
            guard
                let verified = try? verifier.verify(
                    UnverifiedReceipt(changed), of: attestation.publicKey, from: origin, at: now)
            else { continue }
            #expect(verified.createdAt == original.createdAt && verified.kind == original.kind)
        }
    }

    @Test(arguments: try RealAttestation.attested())
    func `refuses it under the root of the fake Apple`(real: RealAttestation) throws {
        let (attestation, _, now, origin) = try parts(of: real)
        let appID = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId))
        let verifier = ReceiptVerifier(
            root: .emulatedRootG3, appID: appID, environment: attestation.environment)
        let receipt = try UnverifiedReceipt(attestation.receipt)
        #expect(throws: ReceiptError(.chainUntrusted)) {
            try verifier.verify(receipt, of: attestation.publicKey, from: origin, at: now)
        }
    }
}
