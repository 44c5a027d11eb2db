import AppAttestation
import AttestationMint
import Encodings
import Testing

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

    @Test func `accepts a protected Mac`() throws {
        try verify([framed(policy)])
    }

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
