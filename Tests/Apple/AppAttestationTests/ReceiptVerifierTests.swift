import AttestationMint
import Foundation
import JOSE
import Testing

@testable import AppAttestation

@Suite struct ReceiptVerifierTests {
    let minted: Minted

    init() throws { minted = try Minted.shared.get() }

    private func receipt(_ change: (inout ReceiptParts) -> Void = { _ in }) throws -> [UInt8] {
        var parts = ReceiptParts(key: minted.key)
        change(&parts)
        return try minted.mint.receipt(parts)
    }

    @Test(arguments: [true, false])
    func `accepts the receipt of an attestation, in BER and in DER`(isStreamed: Bool) throws {
        let bytes = try receipt { $0.isStreamed = isStreamed }
        // An indefinite length, or a length of two bytes.
        #expect(bytes[1] == (isStreamed ? 0x80 : 0x82))
        let verified = try minted.verify(receipt: bytes)
        #expect(verified.kind == .attestation && verified.environment == .production)
        #expect(verified.createdAt == AttestationMint.sampleTime * 1000 - 390)
        #expect(verified.expiresAt - verified.createdAt == 90 * 86_400_000)
        #expect(verified.riskMetric == nil && verified.notBefore == nil)
        #expect(verified.bytes == bytes)
    }

    @Test func `accepts a receipt with signed attributes`() throws {
        #expect(try minted.verify(receipt: receipt { $0.hasSignedAttributes = true }).kind == .attestation)
    }

    @Test func `accepts a refreshed receipt, whose client hash Apple has ruined`() throws {
        let bytes = try minted.mint.receipt(.refreshed(minted.key, metric: "12"))
        let verified = try minted.verify(receipt: bytes, origin: .exchange)
        #expect(verified.riskMetric == 12)
        #expect(verified.notBefore == verified.createdAt + 86_400_000)
    }

    @Test func `refuses a receipt of the other kind`() throws {
        let refreshed = try minted.mint.receipt(.refreshed(minted.key))
        #expect(throws: ReceiptError(.kindMismatch)) { try minted.verify(receipt: refreshed) }
        #expect(throws: ReceiptError(.kindMismatch)) {
            try minted.verify(receipt: receipt(), origin: .exchange)
        }
    }

    @Test func `refuses a receipt of another app, key, environment or attestation`() throws {
        let bytes = try receipt()
        let other = try #require(AppID(teamID: AttestationMint.teamID, bundleID: "com.example.other"))
        #expect(throws: ReceiptError(.appIDMismatch)) { try minted.verify(receipt: bytes, appID: other) }
        #expect(throws: ReceiptError(.keyMismatch)) { try minted.verify(receipt: bytes, key: MintedKey()) }
        #expect(throws: ReceiptError(.environmentMismatch)) {
            try minted.verify(receipt: bytes, environment: .development)
        }
        #expect(throws: ReceiptError(.clientHashMismatch)) {
            try minted.verify(receipt: bytes, origin: .attestation(ClientDataHash(hashing: [1])))
        }
        #expect(throws: ReceiptError(.keyMismatch)) {
            try minted.verify(receipt: receipt { $0.leaf = [0x30, 0x00] })
        }
    }

    @Test func `a receipt is fresh for 5 minutes, and a minute ahead of the clock`() throws {
        let bytes = try receipt()
        let createdAt = try minted.verify(receipt: bytes).createdAt
        try minted.verify(receipt: bytes, at: createdAt + 300_000)
        try minted.verify(receipt: bytes, at: createdAt - 60_000)
        for now in [createdAt + 300_001, createdAt - 60_001] {
            #expect(throws: ReceiptError(.notFresh)) { try minted.verify(receipt: bytes, at: now) }
        }
        #expect(throws: ReceiptError(.expired)) {
            try minted.verify(receipt: receipt { $0.expiresAt = "2026-01-01T00:00:00Z" })
        }
    }

    @Test func `refuses a signer under another root, or outside of its validity`() throws {
        let foreign = try AttestationMint().receipt(ReceiptParts(key: minted.key))
        #expect(throws: ReceiptError(.chainUntrusted)) { try minted.verify(receipt: foreign) }
        #expect(throws: ReceiptError(.chainUntrusted)) {
            try minted.verify(receipt: receipt(), root: .appleRootG3)
        }
        let now = AttestationMint.sampleTime
        #expect(throws: ReceiptError(.certificateExpired)) {
            try minted.verify(receipt: receipt { $0.signerValidity = (now - 100)...(now - 1) })
        }
        #expect(throws: ReceiptError(.certificateNotYetValid)) {
            try minted.verify(receipt: receipt { $0.signerValidity = (now + 10)...(now + 100) })
        }
        try minted.verify(receipt: receipt { $0.signerValidity = (now - 100)...now })
        try minted.verify(receipt: receipt { $0.signerValidity = now...(now + 100) })
    }

    @Test func `refuses content that is not signed`() throws {
        let bytes = try receipt { $0.isStreamed = false }
        let name = Array("com.example.app".utf8)
        let position = try #require(
            bytes.indices.first { bytes[$0...].starts(with: name) }, "the app ID in the content")
        var changed = bytes
        changed[position] ^= 1
        #expect(throws: ReceiptError(.signatureInvalid)) { try minted.verify(receipt: changed) }
    }

    @Test(arguments: [[(2, "x")], [(6, "ATTEST")], [(21, "2026-03-31T23:59:59Z")]])
    func `refuses a field that occurs twice`(more: [(Int, String)]) throws {
        let bytes = try receipt { $0.moreFields = more.map { ($0.0, Array($0.1.utf8)) } }
        #expect(throws: ReceiptError(.contentMalformed)) { try minted.verify(receipt: bytes) }
    }

    @Test func `ignores unknown fields`() throws {
        try minted.verify(receipt: receipt { $0.moreFields = [(99, [1, 2, 3])] })
    }

    @Test func `refuses fields in another form`() throws {
        let changes: [(inout ReceiptParts) -> Void] = [
            { $0.kind = "attest" }, { $0.environment = "Production" }, { $0.createdAt = "yesterday" },
            { $0.expiresAt = "" }, { $0.notBefore = "2026-02-30T00:00:00Z" }, { $0.riskMetric = "-1" },
            { $0.riskMetric = "4294967296" }, { $0.riskMetric = "1 " }, { $0.riskMetric = "" },
            { ($0.kind, $0.riskMetric) = ("RECEIPT", nil) },
            { $0.moreFields = (30..<60).map { ($0, []) } },
        ]
        for change in changes {
            let bytes = try receipt(change)
            #expect(throws: ReceiptError(.contentMalformed)) { try minted.verify(receipt: bytes) }
        }
    }

    @Test(arguments: [
        [0x31], [0x30, 0x00], [0x31, 0x00, 0x00], [0x31, 0x81, 0x02, 0x30, 0x00],
        [0x31, 0x80, 0x00, 0x00],
        [0x31, 0x02, 0x30, 0x05], [0x31, 0x83, 0x00, 0x00, 0x02, 0x30, 0x00],
        ReceiptParts.item(0x31, ReceiptParts.item(0x30, ReceiptParts.item(0x02, [0, 2]) + [2, 1, 1, 4, 0])),
        ReceiptParts.item(0x31, ReceiptParts.item(0x30, ReceiptParts.item(0x02, [2]) + [2, 1, 1, 4, 0, 0])),
    ])
    func `refuses content that is not a set of fields`(content: [UInt8]) throws {
        #expect(ReceiptField.fields(of: content) == nil)
        let bytes = try receipt { $0.content = content }
        #expect(throws: ReceiptError.self) { try minted.verify(receipt: bytes) }
    }

    @Test func `refuses other bytes, trailing bytes, and cut bytes`() throws {
        let bytes = try receipt()
        for other in [[], [0x30, 0x80], Array("a receipt".utf8), bytes + [0], Array(bytes.dropLast())] {
            #expect(throws: ReceiptError(.malformed)) { try minted.verify(receipt: other) }
        }
        #expect(throws: ReceiptError(.tooLarge)) {
            try UnverifiedReceipt([UInt8](repeating: 0, count: UnverifiedReceipt.longest + 1))
        }
    }

    /// Some bytes of a message are not signed, such as the list of digest algorithms. They must not change
    /// what is read.
    @Test(arguments: [true, false]) func `no changed byte changes what is accepted`(isStreamed: Bool) throws {
        let bytes = try receipt { $0.isStreamed = isStreamed }
        let original = try minted.verify(receipt: bytes)
        var refused = 0
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= UInt8.random(in: 1...255)
            do {
                let verified = try minted.verify(receipt: changed)
                #expect(verified.createdAt == original.createdAt && verified.kind == original.kind)
                #expect(verified.expiresAt == original.expiresAt)
            } catch {
                refused += 1
            }
        }
        #expect(refused > bytes.count / 2)
    }

    @Test func `3,000 random mutations end in a code`() throws {
        let bytes = try receipt()
        for _ in 0..<3_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4) {
                let index = changed.indices.randomElement() ?? 0
                switch Int.random(in: 0..<3) {
                case 0: changed[index] = .random(in: 0...255)
                case 1: changed.remove(at: index)
                default: changed.insert(contentsOf: changed[index...].prefix(8), at: index)
                }
            }
            // Only typed errors, and no crash.
            _ = try? minted.verify(receipt: changed)
        }
    }

    @Test func `each code belongs to a step, and each step has a code`() {
        #expect(Set(ReceiptError.Code.allCases.map(\.step)) == Set(ReceiptStep.allCases))
    }
}

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
    func `refuses it under another root`(real: RealAttestation) throws {
        let (attestation, _, now, origin) = try parts(of: real)
        let appID = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId))
        let verifier = ReceiptVerifier(
            root: .appleAppAttestation, appID: appID, environment: attestation.environment)
        let receipt = try UnverifiedReceipt(attestation.receipt)
        #expect(throws: ReceiptError(.chainUntrusted)) {
            try verifier.verify(receipt, of: attestation.publicKey, from: origin, at: now)
        }
    }
}
