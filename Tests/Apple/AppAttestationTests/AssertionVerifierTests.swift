import AttestationMint
import Cryptography
import JOSE
import Testing

@testable import AppAttestation

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
    ) { #expect(throws: AppAttestationError(code), sourceLocation: location) { try body() } }

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

/// Checks the outer form of both objects. Two readers that choose different members from the same bytes are
/// an attack.
@Suite struct ObjectFormTests {
    let minted: Minted

    init() throws { minted = try Minted.shared.get() }

    /// Ways to write a map that a lenient reader accepts.
    static let otherForms: [@Sendable ([(CBORItem, CBORItem)]) -> [UInt8]] = [
        // A duplicate key, with the true value first and last.
        { CBORItem.map($0 + [$0[$0.count - 1]]).encoded },
        { CBORItem.map([($0[$0.count - 1].0, .bytes([]))] + $0).encoded },
        { CBORItem.map([($0[0].0, $0[0].1)] + $0).encoded },
        // An indefinite map.
        { [0xBF] + CBORItem.map($0).encoded.dropFirst() + [0xFF] },
        // A count of entries that is not minimal.
        { [0xB8, UInt8($0.count)] + CBORItem.map($0).encoded.dropFirst() },
        { [0xB9, 0, UInt8($0.count)] + CBORItem.map($0).encoded.dropFirst() },
        // A key with a length that is not minimal, and a key in chunks.
        { members in
            var members = members
            guard case .text(let name) = members[0].0 else { return [] }
            members[0].0 = .raw([0x78, UInt8(name.utf8.count)] + Array(name.utf8))
            return CBORItem.map(members).encoded
        },
        { members in
            var members = members
            members[0].0 = .raw([0x7F] + members[0].0.encoded + [0xFF])
            return CBORItem.map(members).encoded
        },
        // A last value in chunks, and with a length that is not minimal.
        { members in
            var members = members
            members[members.count - 1].1 = .raw([0x5F] + members[members.count - 1].1.encoded + [0xFF])
            return CBORItem.map(members).encoded
        },
        { members in
            var members = members
            guard case .bytes(let bytes) = members[members.count - 1].1 else { return [] }
            members[members.count - 1].1 = .raw([0x59, 0, UInt8(bytes.count)] + bytes)
            return CBORItem.map(members).encoded
        },
        // Bytes after the object, a tag around it, an array, an empty map, nothing.
        { CBORItem.map($0).encoded + [0x00] }, { CBORItem.map($0).encoded + [0xFF] },
        { [0xD9, 0xD9, 0xF7] + CBORItem.map($0).encoded },
        { CBORItem.array($0.flatMap { [$0.0, $0.1] }).encoded }, { _ in [0xA0] }, { _ in [] },
        { CBORItem.map($0).encoded.dropLast() },
    ]

    @Test(arguments: otherForms.indices) func `refuses an attestation in another form`(index: Int) throws {
        let object = Self.otherForms[index](try minted.mint.members(of: minted.parts))
        #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(object) }
    }

    @Test(arguments: otherForms.indices) func `refuses an assertion in another form`(index: Int) throws {
        let object = Self.otherForms[index](try minted.assertionParts.members())
        #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(assertion: object) }
    }

    @Test func `refuses objects without a member, and with a member of another type`() throws {
        let members = try minted.mint.members(of: minted.parts)
        let signed = try minted.assertionParts.members()
        for index in members.indices {
            var less = members
            less.remove(at: index)
            var other = members
            other[index].1 = .unsigned(1)
            for object in [less, other].map({ CBORItem.map($0).encoded }) {
                #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(object) }
            }
        }
        for index in signed.indices {
            var less = signed
            less.remove(at: index)
            var other = signed
            other[index].1 = .text("text")
            for object in [less, other].map({ CBORItem.map($0).encoded }) {
                #expect(throws: AppAttestationError(.objectMalformed)) {
                    try minted.verify(assertion: object)
                }
            }
        }
    }

    @Test(arguments: [0, 1, 3]) func `refuses another number of certificates`(count: Int) throws {
        var parts = minted.parts
        parts.certificates = Array(repeating: .bytes(minted.mint.intermediate.der), count: count)
        let object = try minted.mint.attestation(parts)
        #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(object) }
    }

    @Test func `neither kind is accepted in place of the other`() throws {
        let attestation = try minted.mint.attestation(minted.parts)
        let assertion = try minted.assertionParts.assertion()
        #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(assertion) }
        #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(assertion: attestation) }
    }

    @Test func `refuses large objects before they are read`() throws {
        let zeros = [UInt8](repeating: 0, count: UnverifiedAttestation.longestObject + 1)
        #expect(throws: AppAttestationError(.objectTooLarge)) { try UnverifiedAttestation(zeros) }
        let fewer = [UInt8](repeating: 0, count: UnverifiedAssertion.longestObject + 1)
        #expect(throws: AppAttestationError(.objectTooLarge)) { try UnverifiedAssertion(fewer) }
        #expect(throws: AppAttestationError(.objectMalformed)) { try UnverifiedAssertion(fewer.dropLast()) }
    }
}

@Suite struct AuthenticatorExtensionsTests {
    private func category(_ value: CBORItem) throws -> UInt32? {
        let bytes = CBORItem.map([(.text("apple_validation_category_01"), value)]).encoded
        return try AuthenticatorExtensions(parsing: bytes[...]).validationCategory
    }

    @Test func `reads the category as an integer, and as bytes with the lowest first`() throws {
        #expect(try category(.unsigned(4)) == 4)
        #expect(try category(.bytes([4, 0, 0, 0])) == 4)
        #expect(try category(.bytes([1, 2, 3, 4])) == 0x0403_0201)
        #expect(try category(.bytes([0xFF, 0xFF, 0xFF, 0xFF])) == .max)
    }

    @Test func `a category in any other form is unknown, and not an error`() throws {
        for value: CBORItem in [
            .bytes([]), .bytes([4]), .bytes([4, 0, 0, 0, 0]), .text("4"), .negative(0), .unsigned(1 << 32),
            .array([]), .raw([0xF6]),
        ] { #expect(try category(value) == nil) }
    }

    @Test func `nothing and an empty map have no facts`() throws {
        #expect(try AuthenticatorExtensions(parsing: []) == .none)
        #expect(try AuthenticatorExtensions(parsing: [0xA0]) == .none)
    }
}

@Suite struct AppAttestationStepTests {
    @Test func `every code belongs to a step, and every step has a code`() {
        let steps = Set(AppAttestationError.Code.allCases.map(\.step))
        #expect(steps == Set(AppAttestationStep.allCases))
    }

    @Test func `both kinds together have every step`() {
        let steps = AppAttestationKind.allCases.flatMap { AppAttestationStep.steps(for: $0) }
        #expect(Set(steps) == Set(AppAttestationStep.allCases))
    }

    @Test func `an error shows what it found only to a debugger`() {
        let error = AppAttestationError(.appIDMismatch, found: "a secret", expected: "another")
        #expect(!"\(error)".contains("secret") && error.debugDescription.contains("secret"))
        #expect(error.step == .appID)
    }
}
