import EmulatorServer
import Encodings
import Testing

@testable import GoogleEmulator

@Suite struct ShownTextTests {
    @Test func `the name of an error is shown whole`() {
        let shown = ShownText.body(Array(#"{"status":400,"code":"redirect_uri_mismatch"}"#.utf8))
        #expect(shown.contains(#""code": "redirect_uri_mismatch""#))
    }

    @Test(arguments: ["c0de", "Code", "a-code-of-the-server", "siwa.code.AbC123_xyz"])
    func `an authorization code is shortened`(code: String) {
        let shown = ShownText.body(Array(#"{"code":"\#(code)"}"#.utf8))
        #expect(!shown.contains("\"\(code)\"") && shown.contains("…"))
        #expect(!ShownText.fields([("code", "abcdefgh")]).contains("abcdefgh"))
    }

    @Test(arguments: ["access_token", "id_token"])
    func `a token of an answer is shortened, and its claims are shown`(name: String) {
        let parts = [#"{"alg":"ES256","typ":"at+jwt"}"#, #"{"sub":"acc_1","scope":"openid"}"#, "signature"]
        let token = parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        let shown = ShownText.body(Array(#"{"\#(name)":"\#(token)","token_type":"Bearer"}"#.utf8))
        #expect(shown.contains(#""sub": "acc_1""#) && shown.contains(#""typ": "at+jwt""#))
        #expect(!shown.contains(token))
    }
}
