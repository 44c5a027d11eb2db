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
    func `reads no other form`(text: String) { #expect(HTTPDate.seconds(text) == nil) }
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
    func `refuses any other spelling`(text: String) { #expect(Base64.decode(text) == nil) }
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
    func `refuses every other spelling`(text: String) { #expect(Base64URL.decode(text) == nil) }

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

@Suite struct WordScanTests {
    static let stops: [UInt8] = [0x00, 0x1F, 0x22, 0x5C]
    static let passes: [UInt8] = [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E, 0x7F]

    @Test(arguments: stops) func `finds the end of plain text wherever it is`(stop: UInt8) {
        for length in 0..<20 {
            for position in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[position] = stop
                for start in 0...position {
                    #expect(
                        bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: start) } == position)
                    #expect(
                        bytes.withUnsafeBytes { WordScan.endOfPlainASCII(in: $0, from: start) } == position)
                }
                #expect(
                    bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: position + 1) } == length)
            }
        }
    }

    @Test func `every pair of bytes is told apart as one byte at a time would`() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let bytes: [UInt8] = [0x61, first, second, 0x61, 0x61, 0x61, 0x61, 0x61]
                let isStop = { (byte: UInt8) in Self.stops.contains(byte) || byte < 0x20 }
                let text = bytes.firstIndex(where: isStop) ?? bytes.count
                let ascii = bytes.firstIndex { isStop($0) || $0 >= 0x80 } ?? bytes.count
                let printable = bytes.firstIndex { $0 < 0x20 || $0 > 0x7E } ?? bytes.count
                let found = bytes.withUnsafeBytes { bytes in
                    (
                        WordScan.endOfPlainText(in: bytes, from: 0),
                        WordScan.endOfPlainASCII(in: bytes, from: 0),
                        WordScan.firstOffset(of: second, in: bytes, from: 0),
                        WordScan.endOfPrintableASCII(in: bytes)
                    )
                }
                #expect(found.0 == text && found.1 == ascii)
                #expect(found.2 == bytes.firstIndex(of: second) && found.3 == printable)
            }
        }
    }

    @Test func `compares all bytes`() {
        for length in 0..<20 {
            let bytes = [UInt8](repeating: 7, count: length)
            #expect(bytes.withUnsafeBytes { WordScan.areEqual($0, $0) })
            for position in 0..<length {
                var other = bytes
                other[position] = 8
                #expect(
                    !bytes.withUnsafeBytes { bytes in other.withUnsafeBytes { WordScan.areEqual(bytes, $0) } }
                )
            }
        }
    }
}

@Suite struct TextLayoutTests {
    private let narrow = TextLayout(columns: 40, hasColors: false)

    @Test func `text is wrapped at spaces, and a long word stays whole`() {
        let word = String(repeating: "x", count: 50)
        let lines = narrow.wrapped("one two \(word) three", indent: 2, hanging: 4)
        #expect(lines == ["  one two", "    \(word)", "    three"])
        #expect(TextLayout.plain.wrapped("one two \(word)", indent: 2) == ["  one two \(word)"])
        #expect(narrow.wrapped("") == [""])
        #expect(narrow.wrapped("a   b") == ["a   b"])
    }

    @Test(arguments: 1...120) func `no line of short words is wider than the terminal`(columns: Int) {
        let text = Array(repeating: "ab", count: 60).joined(separator: " ")
        let layout = TextLayout(columns: columns, hasColors: false)
        let lines = layout.row("  head  ", styled: "  head  ", text) + layout.beneath(8, text)
        #expect(lines.allSatisfy { $0.count <= max(columns, 6) })
        let words = lines.flatMap { $0.split(separator: " ") }.filter { $0 != "head" }
        #expect(words.count == 120, "nothing is lost")
    }

    @Test func `text begins on the next line where a head leaves no room`() {
        let head = "  a head of twenty columns  "
        #expect(narrow.row(head, styled: head, "text") == ["  a head of twenty columns", "    text"])
        let wide = TextLayout(columns: 80, hasColors: false)
        #expect(wide.row(head, styled: head, "text") == [head + "text"])
        #expect(wide.beneath(28, "x") == [String(repeating: " ", count: 28) + "x"])
        #expect(narrow.beneath(28, "x") == ["    x"])
    }

    @Test func `styles are for terminals with colors alone, and cost no columns`() {
        #expect(TextLayout.plain.styled("x", .bad) == "x")
        let layout = TextLayout(columns: 40, hasColors: true)
        #expect(layout.styled("x", .bad) == "\u{1B}[1;31mx\u{1B}[0m")
        #expect(layout.styled("", .bad).isEmpty)
        let text = String(repeating: "y", count: 34)
        #expect(layout.row("head  ", styled: layout.styled("head", .good) + "  ", text).count == 1)
    }
}

@Suite struct HTMLEscapeTests {
    @Test(arguments: [
        ("", ""), ("Ada", "Ada"), ("Zoë 🦊", "Zoë 🦊"),
        ("<b>", "&lt;b&gt;"), ("\" onclick='x'", "&quot; onclick=&#39;x&#39;"),
        ("&lt;", "&amp;lt;"), ("ş<\u{301}", "ş&lt;\u{301}"),
    ])
    func `escapes the characters that can begin markup or end an attribute`(text: String, html: String) {
        #expect(Array(text.htmlEscaped.utf8) == Array(html.utf8))
    }
}
