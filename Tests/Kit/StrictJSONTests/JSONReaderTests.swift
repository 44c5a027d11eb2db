import Testing

@testable import StrictJSON

@Suite struct JSONReaderTests {
    @Test(arguments: [
        ("{}", JSONValue.object(JSONObject())),
        (" [ 1 , \"a\" , true , null ] \n", .array([.integer(1), .string("a"), .bool(true), .null])),
        (#"{"a":{"b":[]}}"#, .object(JSONObject([("a", .object(JSONObject([("b", .array([]))])))]))),
        (#""\u0041\n\/\ud83d\ude00é""#, .string("A\n/😀é")),
        ("-9223372036854775808", .integer(.min)),
        ("9223372036854775807", .integer(.max)),
        ("9223372036854775808", .number("9223372036854775808")),
        ("1e3", .number("1e3")), ("1.0", .number("1.0")), ("-0", .integer(0)), ("1E-2", .number("1E-2")),
    ])
    func `reads what RFC 8259 allows`(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        #""\u0000""#, "\"\u{0}\"", #""a\u0000b""#, "\"\\n\u{0}\"", #"{"\u0000":1}"#, "\"é\u{0}\"",
    ])
    func `has a code of its own for a zero byte in a string`(text: String) {
        #expect(throws: JSONError(.characterNotAllowed)) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "[1,]", #"{"a":1,}"#, "{,}", "[,]", "{\"a\"}", #"{"a":}"#, "{a:1}", "{'a':1}",
        "1 2",
        "{} {}", "01", "-", "+1", ".5", "1.", "1e", "0x1", "NaN", "Infinity", "tru", "nul", "True", "[1 2]",
        #"{"a":1 "b":2}"#, "\"a", "\"\u{1}\"", "\"a\nb\"", #""\x""#, #""\u12"#, #""\u12g4""#, "\u{FEFF}{}",
        "// c\n1",
        "[1]]", "\0", "1\0",
    ])
    func `refuses what is not JSON`(text: String) {
        #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        #"{"sub":"a","sub":"b"}"#, #"{"sub":"a","s\u0075b":"b"}"#, #"{"a":{"b":1,"b":1}}"#, #"[{"":1,"":1}]"#,
    ])
    func `refuses two members of one name, however they are written`(text: String) {
        #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test func `keeps names apart that are only canonically equivalent`() throws {
        let value = try JSONValue(parsing: Array("{\"K\":1,\"\u{212A}\":2}".utf8))
        #expect(value["K"] == .integer(1))
        #expect(value["\u{212A}"] == .integer(2))
    }

    @Test(arguments: [#""\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\udc00""#])
    func `refuses lone surrogates and U+0000`(text: String) {
        #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(
        arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]]
            as [[UInt8]])
    func `refuses bytes that are not UTF-8, plain and beside an escape`(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: [quote] + bytes + [quote]) }
        #expect(throws: JSONError(.jsonInvalid)) {
            try JSONValue(parsing: [quote] + Array(#"\n"#.utf8) + bytes + [quote])
        }
    }

    @Test func `refuses UTF-16`() {
        let bytes = "{\"a\":1}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: bytes) }
    }

    @Test func `bounds depth and members`() throws {
        let limits = JSONLimits(depth: 3, members: 2)
        #expect(
            try JSONValue(parsing: Array("[[[]]]".utf8), limits: limits) == .array([.array([.array([])])]))
        #expect(throws: JSONError(.jsonInvalid)) {
            try JSONValue(parsing: Array("[[[[]]]]".utf8), limits: limits)
        }
        #expect(throws: JSONError(.jsonInvalid)) {
            try JSONValue(parsing: Array(#"{"a":1,"b":2,"c":3}"#.utf8), limits: limits)
        }
        // A document of nothing but brackets ends at the bound instead of using up the stack.
        #expect(throws: JSONError(.jsonInvalid)) {
            try JSONValue(parsing: Array(repeating: 0x5B, count: 1 << 16))
        }
    }

    @Test func `skips a value only after checking all of it`() throws {
        var reader = JSONReader(Array(#"{"a":{"b":[1,{"c":tru}]}}"#.utf8))
        try reader.beginObject()
        _ = try reader.nextMember()
        #expect(throws: JSONError(.jsonInvalid)) { try reader.skipValue() }
    }

    @Test func `survives every truncation and every changed byte`() {
        let document = Array(#"{"a":"x\u00e9\\","b":[1,-2.5e+3,{"c":null}],"d":true,"é":""}"#.utf8)
        for end in document.indices {
            #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: Array(document[..<end])) }
        }
        for index in document.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = document
                changed[index] = byte
                _ = try? JSONValue(parsing: changed)
            }
        }
    }
}

@Suite struct JSONNameTests {
    /// Lengths around the ends of words, of what is kept in place, and beyond.
    static let lengths = [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 64]

    private static func text(_ length: Int) -> String {
        String((0..<length).map { Character(Unicode.Scalar(UInt8(0x61 + $0 % 26))) })
    }

    @Test(arguments: lengths) func `gives back the bytes that it was made of`(length: Int) {
        let text = Self.text(length)
        #expect(Array(text.utf8).withUnsafeBytes { JSONName($0) }.string == text)
    }

    @Test(arguments: lengths) func `is the same wherever it stands in a document`(length: Int) {
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

    @Test(arguments: lengths.dropFirst()) func `differs in every byte`(length: Int) {
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

@Suite struct JSONWriterTests {
    @Test func `writes members, arrays and nesting`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", "x")
        writer.member("b", ifPresent: nil as String?)
        writer.member("c", Int64.min)
        writer.name("d")
        writer.beginArray()
        writer.element()
        writer.value(true)
        writer.element()
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.member("e", 0)
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":"x","c":-9223372036854775808,"d":[true,{}],"e":0}"#)
    }

    @Test(arguments: [
        "", "plain", "\"\\/\u{8}\u{9}\u{A}\u{C}\u{D}", "\u{1}\u{1F}\u{7F}é😀", "\u{2028}</script>",
    ])
    func `reads back every string that it writes`(text: String) throws {
        let value = JSONValue.array([.string(text), .object(JSONObject([(text, .integer(1))]))])
        #expect(try JSONValue(parsing: value.serialized()) == value)
    }
}
