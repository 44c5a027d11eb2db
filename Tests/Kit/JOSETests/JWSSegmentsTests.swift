import JOSE
import Testing

@Suite struct JWSSegmentsTests {
    @Test func `is the compact serialization of its bytes, and back`() throws {
        // RFC 7515, appendix A.5: an unsecured JWS, whose line breaks are part of the payload.
        let text =
            "eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        let segments = JWSSegments(
            header: Array(#"{"alg":"none"}"#.utf8),
            payload: Array(
                "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}".utf8))
        #expect(segments.compact == text)
        #expect(segments.signingInput == Array(text.dropLast().utf8))
        #expect(JWSSegments(compact: text) == segments)
    }

    @Test(arguments: ["", "a.b", "YQ.YQ.YQ.YQ", "YQ==.YQ.YQ", "YR.YQ.YQ", "Y Q.YQ.YQ"])
    func `is nothing else`(text: String) {
        #expect(JWSSegments(compact: text) == nil)
    }
}
