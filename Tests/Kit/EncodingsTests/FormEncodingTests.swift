import Testing

@testable import Encodings

@Suite struct FormEncodingTests {
    @Test func `escapes everything but unreserved characters`() {
        #expect(FormEncoding.escape("aZ09-._~ +&=%/ä") == "aZ09-._~%20%2B%26%3D%25%2F%C3%A4")
    }

    @Test func `decodes what it has encoded`() {
        let fields: [(name: String, value: String)] = [("a b", "c&d=e+f%"), ("ä", ""), ("a b", "again")]
        let decoded = FormEncoding.decode(FormEncoding.encode(fields).utf8) ?? []
        #expect(decoded.map(\.name) == fields.map(\.name))
        #expect(decoded.map(\.value) == fields.map(\.value))
    }

    @Test func `a plus sign is a space, and pairs may be empty`() {
        let decoded = FormEncoding.decode("a=b+c&&d".utf8) ?? []
        #expect(decoded.map(\.name) == ["a", "d"])
        #expect(decoded.map(\.value) == ["b c", ""])
    }

    @Test(arguments: ["a=%", "a=%1", "a=%GG", "a=%00", "a=%FF", "%E4=1"])
    func `refuses broken escapes, U+0000 and what is not UTF-8`(text: String) {
        #expect(FormEncoding.decode(text.utf8) == nil)
    }

    @Test func `refuses more fields than the limit`() {
        let text = Array(repeating: "a=b", count: 65).joined(separator: "&")
        #expect(FormEncoding.decode(text.utf8) == nil)
        #expect(FormEncoding.decode(text.utf8, limit: 65)?.count == 65)
    }
}

@Suite struct QueryTextTests {
    @Test(arguments: [
        ("abc-._~09AZ", "abc-._~09AZ"), ("a b", "a%20b"), ("a+b&c=d#e", "a%2Bb%26c%3Dd%23e"), ("é", "%C3%A9"),
        ("\r\nX: y", "%0D%0AX%3A%20y"), ("\"<>", "%22%3C%3E"), ("", ""), ("%", "%25"),
    ])
    func `lets nothing out but unreserved characters and escapes`(value: String, encoded: String) {
        #expect(QueryText.encode(value) == encoded)
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example?x=1"), ("https://a.example/p?", "https://a.example/p?x=1"),
        ("https://a.example/p?y=2", "https://a.example/p?y=2&x=1"),
        ("https://a.example/p?y=2&", "https://a.example/p?y=2&x=1"),
        ("https://a.example/p?y=2?", "https://a.example/p?y=2?&x=1"),
    ])
    func `goes behind what an address has already`(url: String, whole: String) {
        var query = QueryText()
        query.append("x", "1")
        #expect(query.appended(to: url) == whole)
    }
}

@Suite struct CountedNetworkTests {
    @Test func `an address of IPv4 is one network, and an address of IPv6 is in three`() {
        let version4 = CountedNetwork.all(of: 0xCB00_7107, isVersion4: true)
        #expect(version4.map(\.text) == ["203.0.113.7"] && version4.map(\.share) == [1])
        let version6 = CountedNetwork.all(of: 0x2001_0DB8_0001_02FF, isVersion4: false)
        #expect(version6.map(\.text) == ["2001:db8:1:2ff::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"])
        #expect(version6.map(\.share) == [1, 2, 4] && version6.map(\.isWide) == [false, true, true])
    }

    @Test(
        arguments: [
            (0x2001_0DB8_0001_02FF, [true, true, true]), (0x2001_0DB8_0001_0200, [false, true, true]),
            (0x2001_0DB8_0001_0300, [false, false, true]), (0x2001_0DB8_0002_02FF, [false, false, false]),
        ] as [(UInt64, [Bool])])
    func `a network contains its addresses`(network: UInt64, expected: [Bool]) {
        let networks = CountedNetwork.all(of: 0x2001_0DB8_0001_02FF, isVersion4: false)
        #expect(networks.map { $0.contains(network, isVersion4: false) } == expected)
        #expect(networks.allSatisfy { !$0.contains(network, isVersion4: true) })
    }
}

@Suite struct HTTPDateTests {
    @Test func `reads the date of a header`() {
        #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
    }

    @Test(arguments: [
        "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
    ])
    func `reads no other form`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}

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

@Suite struct HexadecimalTests {
    @Test(arguments: ["0", "0g", "AB", " 0"])
    func `refuses hexadecimal that is not lowercase pairs`(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }
}
