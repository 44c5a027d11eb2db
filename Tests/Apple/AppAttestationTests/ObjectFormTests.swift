import AttestationMint
import Testing

@testable import AppAttestation

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

    @Test(arguments: otherForms.indices)
    func `refuses an attestation in another form`(index: Int) throws {
        let object = Self.otherForms[index](try minted.mint.members(of: minted.parts))
        #expect(throws: AppAttestationError(.objectMalformed)) { try minted.verify(object) }
    }

    @Test(arguments: otherForms.indices)
    func `refuses an assertion in another form`(index: Int) throws {
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

    @Test(arguments: [0, 1, 3])
    func `refuses another number of certificates`(count: Int) throws {
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
        ] {
            #expect(try category(value) == nil)
        }
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
