import NIOHTTP1
import Testing

@testable import HTTPEngine

@Suite struct MessageTests {
    @Test(arguments: [
        ("abc", "abc"), ("a%20b", "a b"), ("a+b", "a+b"), ("%C3%A9", "é"), ("%2f", "/"), ("", ""),
    ])
    func `percent-encoding is decoded`(text: String, decoded: String) throws {
        #expect(try PercentEncoding.decode(text[...]) == decoded)
    }

    @Test(arguments: ["%", "%1", "%zz", "%ff", "%C3", "a%0", "%ED%A0%80"])
    func `what is not UTF-8 in percent-encoding is refused`(text: String) {
        #expect(throws: PercentEncoding.Failure.malformed) { try PercentEncoding.decode(text[...]) }
    }

    @Test(arguments: ["%00", "\u{0}", "a%00b", "%00%C3"])
    func `a zero byte is refused as such`(text: String) {
        #expect(throws: PercentEncoding.Failure.characterNotAllowed) { try PercentEncoding.decode(text[...]) }
    }

    @Test(arguments: [
        ("/a/b", "/a/b", nil), ("/a?x=1", "/a", "x=1"), ("/a?", "/a", ""), ("http://h/a?x", "/a", "x"),
        ("http://h", "/", nil), ("http://h?x=/a", "/", "x=/a"), ("HTTPS://h:1/a", "/a", nil),
        ("//a", "//a", nil),
        ("/a?b|{}", "/a", "b|{}"),
    ])
    func `a target is path and query`(text: String, path: String, query: String?) throws {
        let target = try #require(RequestTarget(text))
        #expect(target.path == path)
        #expect(target.query.map(String.init) == query)
    }

    @Test(arguments: [
        "", "*", "a", "h:80", "http://", "http:///a", "http://?a", "http://u@h/a", "http://:80/a",
        "ftp://h/a",
        "http:/a", "/a#b", "#", "/a b", "/a\u{7F}", "/\u{E9}", "http://h h/a", "http://h\\/a",
    ])
    func `what is neither origin form nor absolute form is no target`(text: String) {
        #expect(RequestTarget(text) == nil)
    }

    @Test func `a part of a query has escapes and no ampersand`() {
        let allowed = Set("%-._~!$'()*+,;=:@/?".utf8)
        for byte in UInt8(0)...0x7F {
            let character = Character(UnicodeScalar(byte))
            let isExpected = allowed.contains(byte) || character.isLetter || character.isNumber
            #expect(PercentEncoding.isQueryText(Substring(String(character))) == isExpected, "\(byte)")
        }
        #expect(!PercentEncoding.isQueryText("\u{E9}"))
    }

    @Test func `a set of characters has these and no other byte`() {
        let sets: [(ASCIISet, Set<UInt8>)] = [
            (ASCIISet("a?\u{0}\u{7F}"), Set("a?\u{0}\u{7F}".utf8)), (ASCIISet(""), []),
            (
                ASCIISet(lettersDigitsAnd: "-"),
                Set(UInt8.min...UInt8.max).filter { byte in
                    byte == UInt8(ascii: "-") || (byte < 0x80 && Character(UnicodeScalar(byte)).isLetter)
                        || (byte < 0x80 && Character(UnicodeScalar(byte)).isNumber)
                }
            ),
            (ASCIISet(visibleWithout: "#"), Set(0x21...0x7E).subtracting([UInt8(ascii: "#")])),
        ]
        for (set, expected) in sets { #expect(Set((UInt8.min...UInt8.max).filter(set.contains)) == expected) }
        #expect(ASCIISet("ab").containsAll(of: "abba") && !ASCIISet("ab").containsAll(of: "abc"))
    }

    @Test func `header names are read without regard to case, and values as they are`() {
        let fields = RequestFields(
            HTTPHeaders([
                ("AUTHORIZATION", "Bearer A"), ("content-Type", "Application/JSON"), ("X-Request-Id", "R"),
                ("Content-Length", "12"), ("Host", "h"), ("If-None-Match", "\"t\""),
                ("Expect", "100-Continue"),
                ("X-Other", "o"),
            ]))
        #expect(fields.authorization == "Bearer A")
        #expect(fields.isJSON)
        #expect(fields.requestID == "R")
        #expect(fields.contentLength == 12)
        #expect(fields.hostCount == 1)
        #expect(fields.isHostValid)
        #expect(fields.transferCoding == .none)
        #expect(fields.ifNoneMatch == "\"t\"")
        #expect(fields.expectsContinue)
        #expect(!fields.wantsUpgrade)
        #expect(!fields.isForm)
        #expect(fields.cookie == nil)
    }

    @Test(arguments: [
        ([("Host", "h"), ("host", "h")], 2, true), ([("Host", "h \t")], 1, true), ([("Host", "")], 1, true),
        ([("Host", "[::1]:80")], 1, true),
        ([("Host", "a b")], 1, false), ([("Host", "a/b")], 1, false),
        ([("Host", "a"), ("Host", "a@b")], 2, false),
    ])
    func `hosts are counted and looked at`(fields: [(String, String)], count: Int, isValid: Bool) {
        let fields = RequestFields(HTTPHeaders(fields))
        #expect(fields.hostCount == count)
        #expect(fields.isHostValid == isValid)
    }

    @Test(
        arguments: [
            ([], .none), (["chunked"], .chunked), (["Chunked"], .chunked), (["chunked "], .chunked),
            (["gzip, chunked"], .unknown),
            (["chunked", "chunked"], .unknown), (["identity"], .unknown),
        ] as [([String], RequestFields.TransferCoding)])
    func `one transfer coding is known`(values: [String], coding: RequestFields.TransferCoding) {
        let fields = RequestFields(HTTPHeaders(values.map { ("Transfer-Encoding", $0) }))
        #expect(fields.transferCoding == coding)
    }

    @Test func `a cookie field that was split is one again`() {
        let fields = RequestFields(
            HTTPHeaders([
                ("Cookie", "a=1"), ("cookie", "b=2"),
                ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"),
            ]))
        #expect(fields.cookie == "a=1; b=2")
        #expect(fields.isForm)
        #expect(!fields.isJSON)
    }

    @Test(arguments: [
        ("n=v", "v"), ("a=1; n=v", "v"), ("a=1;n=v;b=2", "v"), ("n=v; n=w", "v"), ("n=a=b", "a=b"),
        ("n=", ""),
        ("nn=v", nil), ("N=v", nil), ("n", nil), ("", nil), ("a=n=v", nil),
    ])
    func `a cookie is found by its name`(field: String, value: String?) {
        #expect(CookieField.value(of: "n", in: field) == value)
        #expect(CookieField.value(of: "n", in: nil) == nil)
    }

    @Test(arguments: [
        (Int64(0), "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func `the date field is the calendar's`(second: Int64, text: String) {
        #expect(DateHeader(now: { second * 1000 + 999 }).text == text)
    }
}

@Suite struct RequestIDTests {
    @Test(arguments: ["a", "A-b_c.9", String(repeating: "x", count: 64)])
    func `a sane ID of the caller's is kept`(id: String) { #expect(RequestID.accept(id) == id) }

    @Test(arguments: [
        "", String(repeating: "x", count: 65), "a b", "a\r\nSet-Cookie: x", "a\"b", "é", "a=b", "\u{0}",
    ])
    func `an ID that could do harm is not`(id: String) { #expect(RequestID.accept(id) == nil) }

    @Test func `made IDs are short, sane and different`() {
        let ids = (0..<1000).map { _ in RequestID.make() }
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(id.utf8.count == 13)
            #expect(RequestID.accept(id) == id)
        }
    }
}
