import AppAttestation
import AttestationMint
import Cryptography
import JOSE
import Testing

@Suite struct AssertionVerifierTests {
    let minted: Minted

    init() throws { minted = try Minted.shared.get() }

    private func assertion(_ change: (inout AssertionParts) -> Void = { _ in }) throws -> [UInt8] {
        var parts = minted.assertionParts
        change(&parts)
        return try parts.assertion()
    }

    private func expect(
        _ code: AppAttestationError.Code, _ location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        #expect(throws: AppAttestationError(code), sourceLocation: location) { try body() }
    }

    @Test func `accepts what devices sign, and returns the counter`() throws {
        let verified = try minted.verify(assertion: assertion { $0.counter = 7 }, after: 3)
        #expect(verified.counter == 7)
        #expect(verified.appID == minted.appID)
        #expect(verified.extensions.validationCategory == nil)
    }

    @Test(arguments: [UInt8(0x40), 0xC0])
    func `reads the facts of iOS 27, whatever the flags say`(flags: UInt8) throws {
        let verified = try minted.verify(
            assertion: assertion {
                $0.flags = flags
                $0.extensions =
                    CBORItem.map([
                        (.text("apple_bundle_version_01"), .text("9")),
                        (.text("apple_validation_category_01"), .unsigned(2)),
                    ]).encoded
            })
        #expect(verified.extensions.validationCategory == ValidationCategory.testFlight.rawValue)
        #expect(verified.extensions.bundleVersion == "9")
    }

    @Test func `accepts many signatures, also with a large s`() throws {
        for _ in 0..<50 { try minted.verify(assertion: assertion()) }
    }

    @Test(arguments: [
        (UInt32(0), UInt32(0)), (1, 1), (7, 8), (255, 256), (1 << 31, 1 << 31), ((1 << 31) - 1, 1 << 31),
        (.max, .max), (0, .max),
    ])
    func `refuses a counter that is not above the last counter`(counter: UInt32, last: UInt32) throws {
        let object = try assertion { $0.counter = counter }
        expect(.counterNotIncreased) { try minted.verify(assertion: object, after: last) }
    }

    @Test(arguments: [
        (UInt32(1), UInt32(0)), (9, 1), (1 << 31, (1 << 31) - 1), (.max, 1 << 31), (.max, .max - 1),
    ])
    func `accepts gaps and large counters`(counter: UInt32, last: UInt32) throws {
        let object = try assertion { $0.counter = counter }
        #expect(try minted.verify(assertion: object, after: last).counter == counter)
    }

    @Test func `refuses other client data`() throws {
        let object = try assertion()
        for index in AttestationMint.clientData.indices {
            var data = AttestationMint.clientData
            data[index] ^= 1
            expect(.signatureInvalid) { try minted.verify(assertion: object, clientData: data) }
        }
    }

    @Test func `refuses another key`() throws {
        let (object, other) = (try assertion(), try MintedKey())
        expect(.signatureInvalid) { try minted.verify(assertion: object, key: other) }
    }

    @Test func `refuses another app`() throws {
        let other = try #require(AppID(teamID: AttestationMint.teamID, bundleID: "com.example.other"))
        let object = try assertion()
        expect(.appIDMismatch) { try minted.verify(assertion: object, appID: other) }
        let foreign = try assertion { $0.appID = other.text }
        expect(.appIDMismatch) { try minted.verify(assertion: foreign) }
    }

    @Test func `refuses any changed byte of signature and authenticator data`() throws {
        let members = try minted.assertionParts.members()
        for member in members.indices {
            guard case .bytes(let bytes) = members[member].1 else { continue }
            for index in bytes.indices {
                var (changed, all) = (bytes, members)
                changed[index] ^= 1
                all[member].1 = .bytes(changed)
                let object = CBORItem.map(all).encoded
                expect(.signatureInvalid) { try minted.verify(assertion: object) }
            }
        }
    }

    @Test func `refuses a signature in another form`() throws {
        let members = try minted.assertionParts.members()
        guard case .bytes(let der) = members[0].1 else { return }
        let others: [[UInt8]] = [
            [], der + [0], der.dropLast(), [UInt8](repeating: 0, count: 64), [0x30, 0x00],
        ]
        for signature in others {
            let object = CBORItem.map([(.text("signature"), .bytes(signature)), members[1]]).encoded
            expect(.signatureInvalid) { try minted.verify(assertion: object) }
        }
    }

    @Test func `refuses a signature of the client data that is hashed once instead of twice`() throws {
        // A signature of the message, and not of its hash.
        let data = minted.assertionParts.authenticatorData
        let message = data + SHA256Digest.hash(AttestationMint.clientData).bytes
        let object = CBORItem.map([
            (.text("signature"), .bytes(try minted.key.sign(message))),
            (.text("authenticatorData"), .bytes(data)),
        ]).encoded
        expect(.signatureInvalid) { try minted.verify(assertion: object) }
    }

    @Test func `refuses signed authenticator data that is cut off`() throws {
        let whole = minted.assertionParts.authenticatorData
        let hash = SHA256Digest.hash(AttestationMint.clientData).bytes
        for count in 0..<whole.count {
            let data = Array(whole.prefix(count))
            let nonce = SHA256Digest.hash(data + hash).bytes
            let object = CBORItem.map([
                (.text("signature"), .bytes(try minted.key.sign(nonce))),
                (.text("authenticatorData"), .bytes(data)),
            ]).encoded
            expect(.authenticatorDataMalformed) { try minted.verify(assertion: object) }
        }
    }

    @Test(arguments: [[0x00], [0xA0, 0xA0], [0x80], [0xA1, 0x01, 0x02], [0xBF, 0xFF]] as [[UInt8]])
    func `refuses other bytes behind the counter`(bytes: [UInt8]) throws {
        let object = try assertion { $0.extensions = bytes }
        expect(.extensionsMalformed) { try minted.verify(assertion: object) }
    }
}
