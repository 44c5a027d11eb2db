import Testing

@testable import StrictJSON

@Suite struct JSONNameTests {
    /// Lengths around the ends of words, of what is kept in place, and beyond.
    static let lengths = [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 64]

    private static func text(_ length: Int) -> String {
        String((0..<length).map { Character(Unicode.Scalar(UInt8(0x61 + $0 % 26))) })
    }

    @Test(arguments: lengths)
    func `gives back the bytes that it was made of`(length: Int) {
        let text = Self.text(length)
        #expect(Array(text.utf8).withUnsafeBytes { JSONName($0) }.string == text)
    }

    @Test(arguments: lengths)
    func `is the same wherever it stands in a document`(length: Int) {
        let bytes = Array(Self.text(length).utf8)
        let name = bytes.withUnsafeBytes { JSONName($0) }
        for before in 0..<9 {
            for after in 0..<9 {
                let document =
                    [UInt8](repeating: 0xFF, count: before) + bytes + [UInt8](repeating: 0xFF, count: after)
                let found = document.withUnsafeBytes { JSONName($0, before..<(before + length)) }
                #expect(found == name)
            }
        }
    }

    @Test(arguments: lengths.dropFirst())
    func `differs in every byte`(length: Int) {
        let bytes = Array(Self.text(length).utf8)
        let name = bytes.withUnsafeBytes { JSONName($0) }
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 0x20
            #expect(other.withUnsafeBytes { JSONName($0) } != name)
        }
        #expect(bytes.dropLast().withUnsafeBytes { JSONName($0) } != name)
        #expect((bytes + [0]).withUnsafeBytes { JSONName($0) } != name)
    }

    @Test func `a literal is equal to its own bytes only`() {
        let name = Array("is_private_email".utf8).withUnsafeBytes { JSONName($0) }
        #expect(name == "is_private_email")
        #expect(!(name == "is_private_emaiL"))
        #expect(!(name == "is_private_emai"))
        let long = Array("a_name_of_more_than_24_bytes".utf8).withUnsafeBytes { JSONName($0) }
        #expect(long == "a_name_of_more_than_24_bytes")
        #expect(!(long == "a_name_of_more_than_24_bytez"))
        // U+212A is canonically equivalent to K, and is another name.
        let kelvin = Array("\u{212A}id".utf8).withUnsafeBytes { JSONName($0) }
        #expect(!(kelvin == "Kid"))
    }
}
