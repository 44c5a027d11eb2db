import JOSE
import KeySets
import Testing

@Suite struct KeySetFetchOutcomeTests {
    private static func failure(_ response: KeySetResponse, to tag: String? = nil) -> KeySetFetchError.Code? {
        guard case .failed(let code) = KeySetFetchOutcome(response, to: tag) else { return nil }
        return code
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `accepts a key set with its entity tag and freshness`() throws {
        let response = SampleKeySet.response(["A"], entityTag: #""1""#, cacheControl: "max-age=600")
        guard case .replaced(let received, let cacheControl) = KeySetFetchOutcome(response, to: nil) else {
            throw TestFailure("refused")
        }
        #expect(received.keys.keyIDs == ["A"])
        #expect(received.body == response.body)
        #expect(received.entityTag == #""1""#)
        #expect(cacheControl == .fresh(milliseconds: 600_000))
    }

    @Test(arguments: [
        ("", KeySetFetchError.Code.empty), ("<!DOCTYPE html><p>Sorry</p>", .html), (" \r\n<html>", .html),
        ("Service Unavailable", .malformed), ("{", .malformed), ("null", .malformed), ("[]", .malformed),
        ("{}", .malformed), (#"{"keys":{}}"#, .malformed), (#"{"keys":[],}"#, .malformed),
        (#"{"error":"try later"}"#, .malformed), (#"{"keys":[]}"#, .noUsableKey),
        (#"{"keys":[null,1,"A",{}]}"#, .noUsableKey),
    ])
    func `refuses a body that is not a usable key set`(body: String, code: KeySetFetchError.Code) {
        #expect(Self.failure(KeySetResponse(status: 200, body: Self.bytes(body))) == code)
    }

    @Test func `refuses a set without a usable key`() {
        let response = KeySetResponse(status: 200, body: SampleKeySet.withoutUsableKey)
        #expect(Self.failure(response) == .noUsableKey)
    }

    @Test func `refuses more than 64 KiB, and not a byte less`() throws {
        let body = SampleKeySet.body(["A"])
        let padding = [UInt8](repeating: 0x20, count: KeySetResponse.longestBody - body.count)
        #expect(Self.failure(KeySetResponse(status: 200, body: body + padding)) == nil)
        #expect(Self.failure(KeySetResponse(status: 200, body: body + padding + [0x20])) == .tooLarge)
    }

    @Test(arguments: [0, 100, 201, 203, 204, 206, 301, 302, 307, 400, 401, 403, 404, 429, 500, 502, 503, -1])
    func `refuses every other status, even with a good key set`(status: Int) {
        let response = KeySetResponse(status: status, body: SampleKeySet.body(["A"]))
        #expect(Self.failure(response, to: #""1""#) == .statusUnexpected)
    }

    @Test func `names an error page by its content type`() {
        let response = KeySetResponse(
            status: 200, body: Self.bytes("Sorry"), contentType: "Text/HTML; charset=x")
        #expect(Self.failure(response) == .html)
    }

    @Test func `decides by the body, not by the content type`() {
        let response = KeySetResponse(status: 200, body: SampleKeySet.body(["A"]), contentType: "text/html")
        #expect(Self.failure(response) == nil)
    }

    @Test func `accepts a 304 only after a conditional request`() throws {
        let response = KeySetResponse(status: 304, body: [], cacheControl: "max-age=600")
        #expect(Self.failure(response, to: nil) == .statusUnexpected)
        guard case .confirmed(.fresh(milliseconds: 600_000)) = KeySetFetchOutcome(response, to: #""1""#)
        else {
            throw TestFailure("not confirmed")
        }
    }

    @Test(arguments: [
        "", " ", "\"a b\"", "\"a\r\nX: y\"", "\"\u{0}\"", "\"\u{E9}\"",
        "\"" + String(repeating: "x", count: 256),
    ])
    func `drops an entity tag that would break later requests`(tag: String) throws {
        #expect(try SampleKeySet.received(["A"], entityTag: tag).entityTag == nil)
    }

    @Test(arguments: [#""abc""#, #"W/"abc""#, "abc"])
    func `keeps an entity tag that can be sent back`(tag: String) throws {
        #expect(try SampleKeySet.received(["A"], entityTag: tag).entityTag == tag)
    }
}

extension KeySetFetchOutcome {
    static func set(
        _ keyIDs: [String], entityTag: String? = nil, cacheControl: String? = nil
    ) throws -> KeySetFetchOutcome {
        .replaced(
            try SampleKeySet.received(keyIDs, entityTag: entityTag), CacheControl(cacheControl, age: nil))
    }
}

@Suite struct CacheControlTests {
    @Test(arguments: [
        nil, "", "public", "must-revalidate, private", "s-maxage=9, x-max-age=9", "maxage=9", "max-age =60",
        ",,",
    ])
    func `is absent when the field has no freshness`(field: String?) {
        #expect(CacheControl(field, age: nil) == .absent)
    }

    @Test(arguments: [
        "no-store", "no-cache", "NO-STORE", "no-cache, max-age=600", "max-age=600, no-store",
        #"max-age=600, no-cache="set-cookie""#, "no-cache, no-store, max-age=0, must-revalidate", "max-age=0",
        "max-age=-1", "max-age=", "max-age", "max-age=1.5", "max-age=1e3", "max-age= 60",
        "max-age=+60", "max-age=60s", "max-age=0x10", "max-age=9223372036854775808", #"max-age="60"#,
        "max-age=99999999999999999999999999999999999999", "max-age=\u{0661}\u{0662}", "max-age=\u{FF16}",
    ])
    func `is unusable when caching is forbidden or the directives are malformed`(field: String) {
        #expect(CacheControl(field, age: nil) == .unusable)
    }

    @Test(arguments: [
        ("max-age=600", 600), ("MAX-AGE=600", 600), (" public ,\tmax-age=600 , immutable", 600),
        (#"max-age="600""#, 600), ("max-age=600,max-age=1", 600),
        (#"private="x, no-store", max-age=600"#, 600),
        (#"private="x\", no-store", max-age=600"#, 600), ("max-age=00600", 600),
    ])
    func `is fresh for the seconds of max-age`(field: String, seconds: Int64) {
        #expect(CacheControl(field, age: nil) == .fresh(milliseconds: seconds * 1000))
    }

    @Test(arguments: [
        ("0", 600), ("100", 500), ("600", 0), ("601", 0), ("99999999999999999999999999", 0),
        ("-1", 600), ("", 600), ("a while", 600), ("1 ", 600),
    ])
    func `subtracts the age of the response`(age: String, seconds: Int64) {
        #expect(CacheControl("max-age=600", age: age) == .fresh(milliseconds: seconds * 1000))
    }

    @Test func `saturates at the largest number`() {
        #expect(CacheControl("max-age=9223372036854775807", age: nil) == .fresh(milliseconds: .max))
        #expect(
            CacheControl("max-age=9223372036854775807", age: "9223372036854775807")
                == .fresh(milliseconds: 0))
    }

    @Test func `does not parse a field that is too long`() {
        let field = "max-age=600" + String(repeating: ", x", count: 2000)
        #expect(CacheControl(field, age: nil) == .unusable)
    }
}
