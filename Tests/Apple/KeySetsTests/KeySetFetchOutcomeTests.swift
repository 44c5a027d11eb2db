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
