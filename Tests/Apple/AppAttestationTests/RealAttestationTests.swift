import AppAttestation
import Certificates
import Foundation
import JOSE
import Testing

/// Checks objects that devices of Apple made.
@Suite struct RealAttestationTests {
    @discardableResult private func verify(
        _ real: RealAttestation, object: [UInt8]? = nil, teamID: String? = nil, bundleID: String? = nil,
        environment: AttestationEnvironment? = nil, keyID: AttestedKeyID? = nil, hash: [UInt8]? = nil,
        root: TrustAnchor = .appleAppAttestation, at now: Date? = nil
    ) throws -> VerifiedAttestation {
        let appID = AppID(teamID: teamID ?? real.teamId, bundleID: bundleID ?? real.bundleId)
        let known = AttestationEnvironment(rawValue: real.environment)
        let bytes = try hash ?? Array(#require(real.clientDataHash))
        let moment = try #require(now ?? real.verifyAt)
        return try AttestationVerifier(
            root: root, appID: #require(appID), platform: .iOS, environment: #require(environment ?? known)
        ).verify(
            UnverifiedAttestation(object ?? Array(#require(real.attestation))),
            keyID: #require(keyID ?? AttestedKeyID(base64: real.keyId)),
            clientDataHash: #require(ClientDataHash(bytes: bytes)), at: Int64(moment.timeIntervalSince1970))
    }

    @Test(arguments: try RealAttestation.attested())
    func `accepts what Apple attested`(real: RealAttestation) throws {
        let verified = try verify(real)
        #expect(verified.publicKey.point == Array(real.publicKeyX963))
        #expect(verified.keyID.base64 == real.keyId)
        #expect(verified.receipt.count > 3000)
        let facts = real.authData?.extensions
        #expect(verified.extensions.bundleVersion == facts?["apple_bundle_version_01"])
        let category = verified.extensions.validationCategory
        #expect((category != nil) == (facts?["apple_validation_category_01"] != nil))
        if real.name.contains("-apple-") { #expect(category == ValidationCategory.operatingSystem.rawValue) }
    }

    @Test(arguments: try RealAttestation.attested())
    func `refuses it with anything else`(real: RealAttestation) throws {
        let hash = Array(try #require(real.clientDataHash))
        for index in hash.indices {
            var changed = hash
            changed[index] ^= 1
            #expect(throws: AppAttestationError(.nonceMismatch)) { try verify(real, hash: changed) }
        }
        #expect(throws: AppAttestationError(.appIDMismatch)) {
            try verify(real, bundleID: real.bundleId + "x")
        }
        #expect(throws: AppAttestationError(.appIDMismatch)) { try verify(real, teamID: "A1B2C3D4E5") }
        let other: AttestationEnvironment = real.environment == "production" ? .development : .production
        #expect(throws: AppAttestationError(.environmentMismatch)) { try verify(real, environment: other) }
        var keyID = Array(try #require(Data(base64Encoded: real.keyId)))
        keyID[31] ^= 1
        let changed = AttestedKeyID(base64: Data(keyID).base64EncodedString())
        #expect(throws: AppAttestationError(.keyIDMismatch)) { try verify(real, keyID: changed) }
        let minted = try Minted.shared.get()
        #expect(throws: AppAttestationError(.chainUntrusted)) { try verify(real, root: minted.root) }
    }

    @Test(arguments: try RealAttestation.attested())
    func `refuses it one second after the end of its leaf`(real: RealAttestation) throws {
        let end = try #require(real.leafNotAfter)
        try verify(real, at: end.addingTimeInterval(-1))
        #expect(throws: AppAttestationError(.certificateExpired)) {
            try verify(real, at: end.addingTimeInterval(1))
        }
    }

    /// Each byte outside of the receipt is protected. The receipt has a signature of its own, which is not
    /// checked.
    @Test(arguments: try RealAttestation.attested())
    func `refuses it with a changed byte`(real: RealAttestation) throws {
        let object = Array(try #require(real.attestation))
        let receipt = try verify(real).receipt
        let start = try #require(Data(object).range(of: Data(receipt))?.lowerBound)
        for index in stride(from: 0, to: object.count, by: 7)
        where !(start..<start + receipt.count).contains(index) {
            var changed = object
            changed[index] ^= 1
            #expect(throws: AppAttestationError.self, "byte \(index)") { try verify(real, object: changed) }
        }
    }

    @Test(arguments: try RealAttestation.asserted())
    func `accepts what the device asserted, and refuses it with anything else`(real: RealAttestation) throws {
        let appID = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId))
        let key = try ECPublicKey(point: Array(real.publicKeyX963))
        let verifier = AssertionVerifier(appID: appID)
        for item in real.assertions {
            let assertion = try UnverifiedAssertion(Array(item.assertion))
            let hash = try #require(ClientDataHash(bytes: Array(item.clientDataHash)))
            let verified = try verifier.verify(
                assertion, by: key, clientDataHash: hash, after: item.counter - 1)
            #expect(verified.counter == item.counter)
            #expect(throws: AppAttestationError(.counterNotIncreased)) {
                try verifier.verify(assertion, by: key, clientDataHash: hash, after: item.counter)
            }
            let other = ClientDataHash(hashing: Array(item.clientDataHash))
            #expect(throws: AppAttestationError(.signatureInvalid)) {
                try verifier.verify(assertion, by: key, clientDataHash: other, after: 0)
            }
            let foreign = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId + ".x"))
            #expect(throws: AppAttestationError(.appIDMismatch)) {
                try AssertionVerifier(appID: foreign).verify(
                    assertion, by: key, clientDataHash: hash, after: 0)
            }
        }
    }
}
