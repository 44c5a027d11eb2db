import AttestationMint
import Testing

@testable import AppAttestation

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
