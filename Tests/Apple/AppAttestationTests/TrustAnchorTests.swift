import AppAttestation
import AttestationMint
import Encodings
import Testing

@testable import Certificates

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

    @Test func `verifies the signature of the root once for an intermediate certificate`() throws {
        let minted = try Minted()
        for _ in 1...3 { try minted.verify(minted.mint.attestation(minted.parts)) }
        #expect(minted.root.intermediates.count == 1)
    }

    @Test func `an intermediate certificate that is remembered vouches for nothing after its end`() throws {
        let minted = try Minted()
        let object = try minted.mint.attestation(minted.parts)
        try minted.verify(object)
        // The leaf lasts longer than the certificates of authorities here.
        var parts = minted.parts
        parts.leafValidity = 0...4_000_000_000
        let lasting = try minted.mint.attestation(parts)
        for (time, code) in [
            (AttestationMint.authorityValidity.upperBound + 1, .certificateExpired),
            (AttestationMint.authorityValidity.lowerBound - 1, .certificateNotYetValid),
        ] as [(Int64, AppAttestationError.Code)] {
            #expect(throws: AppAttestationError(code)) { try minted.verify(lasting, at: time) }
        }
        try minted.verify(lasting, at: AttestationMint.authorityValidity.upperBound)
        try minted.verify(lasting, at: AttestationMint.authorityValidity.lowerBound)
        #expect(throws: AppAttestationError(.certificateExpired)) {
            try minted.verify(object, at: AttestationMint.leafValidity.upperBound + 1)
        }
        #expect(throws: AppAttestationError(.certificateNotYetValid)) {
            try minted.verify(object, at: AttestationMint.leafValidity.lowerBound - 1)
        }
    }

    @Test func `an attack remembers no intermediate certificate`() throws {
        let (minted, foreign) = (try Minted(), try AttestationMint())
        let leaf = try minted.mint.leaf(of: minted.parts)
        let foreignLeaf = try foreign.leaf(of: minted.parts)
        // The names are the same, and the keys are others.
        let chains = [
            (foreignLeaf.der, foreign.intermediate.der), (leaf.der, foreign.intermediate.der),
            (foreignLeaf.der, minted.mint.intermediate.der), (leaf.der, leaf.der),
            (leaf.der, minted.mint.root.der), (minted.mint.intermediate.der, minted.mint.root.der),
            (minted.mint.root.der, minted.mint.root.der),
            (minted.mint.intermediate.der, minted.mint.intermediate.der),
            // A certificate directly under the root is no leaf of Apple's.
            (minted.mint.intermediate.der, foreign.intermediate.der),
        ]
        func refuse(_ chain: ([UInt8], [UInt8])) throws {
            var parts = minted.parts
            parts.certificates = [.bytes(chain.0), .bytes(chain.1)]
            let object = try minted.mint.attestation(parts)
            #expect(throws: AppAttestationError(.chainUntrusted)) { try minted.verify(object) }
        }
        for chain in chains { try refuse(chain) }
        #expect(minted.root.intermediates.count == 0)
        try minted.verify(minted.mint.attestation(minted.parts))
        for chain in chains { try refuse(chain) }
        #expect(minted.root.intermediates.count == 1)
    }

    @Test func `an intermediate certificate with one other byte is verified anew`() throws {
        let minted = try Minted()
        try minted.verify(minted.mint.attestation(minted.parts))
        var certificate = minted.mint.intermediate.der
        // The last byte of the root's signature.
        certificate[certificate.count - 1] ^= 1
        var parts = minted.parts
        parts.certificates = [.bytes(try minted.mint.leaf(of: parts).der), .bytes(certificate)]
        let object = try minted.mint.attestation(parts)
        #expect(throws: AppAttestationError(.chainUntrusted)) { try minted.verify(object) }
        #expect(minted.root.intermediates.count == 1)
    }

    @Test func `an intermediate certificate of one root does not count under another root`() throws {
        let (first, second) = (try Minted(), try Minted())
        let object = try first.mint.attestation(first.parts)
        try first.verify(object)
        #expect(throws: AppAttestationError(.chainUntrusted)) { try first.verify(object, root: second.root) }
        #expect(second.root.intermediates.count == 0)
    }

    @Test func `remembers a bounded number of intermediate certificates`() throws {
        let minted = try Minted()
        for _ in 0..<VerifiedIntermediates.most + 3 {
            let mint = try AttestationMint(under: minted.mint)
            try minted.verify(mint.attestation(minted.parts))
            // Also when it was just added to a full memory.
            try minted.verify(mint.attestation(minted.parts))
        }
        #expect(minted.root.intermediates.count == VerifiedIntermediates.most)
        try minted.verify(minted.mint.attestation(minted.parts))
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `is not made of text without a certificate`(pem: String) { #expect(TrustAnchor(pem: pem) == nil) }
}

@Suite struct KeyPolicyCheckTests {
    let minted: Minted
    /// The policy of a Mac with System Integrity Protection and Full Security, as Apple documents it.
    let policy: [UInt8]

    init() throws {
        minted = try Minted.shared.get()
        let text = "MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB"
        policy = try #require(Base64.decode(text))
    }

    private func verify(_ policies: [[UInt8]], of platform: AppPlatform = .macOS) throws {
        var parts = minted.parts
        parts.keyPolicies = policies
        try minted.verify(minted.mint.attestation(parts), platform: platform)
    }

    private func framed(_ policy: [UInt8]) -> [UInt8] {
        let size = UInt8(policy.count)
        return [0x30, size + 4, 0xA3, size + 2, 0x04, size] + policy
    }

    @Test func `accepts a protected Mac`() throws { try verify([framed(policy)]) }

    @Test func `refuses any other policy, and finds no policy inside of something else`() throws {
        for index in policy.indices {
            var changed = policy
            changed[index] ^= 1
            #expect(throws: AppAttestationError(.keyPolicyMismatch)) { try verify([framed(changed)]) }
        }
        for value in [[], policy, framed(policy) + [0], framed(policy + [0]), framed(policy.dropLast())] {
            #expect(throws: AppAttestationError(.keyPolicyMismatch)) { try verify([value]) }
        }
    }

    @Test func `refuses a Mac without a policy, and with two`() {
        #expect(throws: AppAttestationError(.keyPolicyMissing)) { try verify([]) }
        #expect(throws: AppAttestationError(.keyPolicyMissing)) {
            try verify([framed(policy), framed(policy)])
        }
    }

    @Test func `does not ask an app of iOS, whose policy is another`() throws {
        try verify([framed([0x05, 0x00])], of: .iOS)
        try verify([], of: .iOS)
    }
}
