import Encodings
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 §10, and the two characters in which the alphabets differ.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `is written and read as the RFC says`(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test func `has plus and slash`() {
        #expect(Base64.encode([0xFB, 0xEF, 0xFF]) == "++//")
        #expect(Base64.decode("++//") == [0xFB, 0xEF, 0xFF])
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Zh==", "Z===", "====", "--__", "Zm9v\n", " Zm9v", "Zm9vY", "Zg==Zg==",
    ])
    func `refuses any other spelling`(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
