import StrictJSON
import Testing

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

    @Test(arguments: [
        #""\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\udc00""#,
    ])
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
