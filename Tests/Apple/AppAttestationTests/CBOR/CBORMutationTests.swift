import AttestationMint
import TestSupport
import Testing

@testable import AppAttestation

/// Checks the readers with random changes of valid objects.
@Suite struct CBORMutationTests {
    /// A million in release builds; fewer in debug builds, whose tests run after every change.
    static let count: Int = {
        #if DEBUG
            50_000
        #else
            1_000_000
        #endif
    }()

    @Test(arguments: [UInt64(1), 2])
    func `never crashes, and accepts only the one encoding of a value`(seed: UInt64) throws {
        let minted = try Minted.shared.get()
        var extended = minted.parts
        extended.extensions =
            CBORItem.map([
                (.text("apple_validation_category_01"), .bytes([4, 0, 0, 0])),
                (.text("apple_bundle_version_01"), .text("1.2")),
            ]).encoded
        var plain = minted.parts
        plain.certificates = [.bytes([1, 2, 3]), .bytes([4])]
        let samples = [
            try minted.mint.attestation(extended), try minted.mint.attestation(plain),
            try minted.assertionParts.assertion(), extended.authenticatorData,
        ]
        var generator = SeededGenerator(seed: seed)
        var accepted = 0
        for round in 0..<(Self.count / 2) {
            var bytes = samples[round % samples.count]
            for _ in 0...Int.random(in: 0..<3, using: &generator) { Self.mutate(&bytes, &generator) }
            if let value = try? CBORValue(parsing: bytes[...]) {
                accepted += 1
                #expect(value.item.encoded == bytes)
            }
            _ = try? UnverifiedAssertion(bytes)
            if let attestation = try? UnverifiedAttestation(bytes) { Self.readParts(of: attestation) }
            Self.readAuthenticatorData(bytes[...])
        }
        // Most changes are inside of strings; so the comparison has been made.
        #expect(accepted > Self.count / 20)
    }

    private static func readParts(of attestation: UnverifiedAttestation) {
        _ = try? AttestationCertificates(attestation, under: .appleAppAttestation, at: 0)
        readAuthenticatorData(attestation.authenticatorData)
    }

    private static func readAuthenticatorData(_ bytes: ArraySlice<UInt8>) {
        for kind in AppAttestationKind.allCases {
            if let data = try? AuthenticatorData(parsing: bytes, of: kind) {
                _ = try? AuthenticatorExtensions(parsing: data.rest)
            }
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(0xA1) }
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        // Heads of items are rare in long objects, and half of the changes are near the begin.
        let index = Bool.random(using: &generator) ? position : position % min(64, bytes.count)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
        case 4: bytes.removeLast(bytes.count - index)
        default:
            let end = min(bytes.count, index + Int.random(in: 1...16, using: &generator))
            bytes.insert(contentsOf: Array(bytes[index..<end]), at: index)
        }
    }
}
