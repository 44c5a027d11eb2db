import Encodings
import Testing

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ])
    func `agrees with the vectors of RFC 4648`(plain: String, encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }

    @Test(arguments: [
        "A", "Zg==", "Zg=", "Zm8=", "Zm9v\n", " Zm9v", "Zm 9v", "+/+/", "Zm9v.", "Zh", "Zm9", "Zm\u{E9}",
        "Zm9v\0",
    ])
    func `refuses every other spelling`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `has one spelling for every byte string`() {
        var generator = SystemRandomNumberGenerator()
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes)
            // Any other last character decodes to other bytes, or not at all.
            for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            where length > 0 {
                let other = text.dropLast() + String(character)
                if other != text { #expect(Base64URL.decode(String(other)) != bytes) }
            }
        }
    }
}
