import EmulatorServer
import Foundation
import GoogleEmulator
import Hummingbird
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Google's RISC API, by which a receiver of security events is registered.
@Suite(.timeLimit(.hung)) struct EventStreamTests {
    static let audience = "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService"
    private static let push = "https://schemas.openid.net/secevent/risc/delivery-method/push"
    private static let sessions = "https://schemas.openid.net/secevent/risc/event-type/sessions-revoked"

    /// A service account of the fake Google.
    private struct Account {
        let email: String
        let keyID: String
        let key: RSAPrivateKey

        init(_ google: GoogleUnderTest, _ members: String = "{}") async throws {
            let file = try #require(try await google.control("service-accounts", members).json)
            #expect(file["type"]?.string == "service_account")
            email = try #require(file["client_email"]?.string)
            keyID = try #require(file["private_key_id"]?.string)
            key = try RSAPrivateKey(pem: try #require(file["private_key"]?.string))
        }

        func token(
            header: [String: JSONValue?] = [:], claims changes: [String: JSONValue?] = [:]
        ) throws -> String {
            let now = GoogleUnderTest.now
            var head = JSONObject([("alg", .string("RS256")), ("kid", .string(keyID))])
            var claims = JSONObject([
                ("iss", .string(email)), ("sub", .string(email)),
                ("aud", .string(EventStreamTests.audience)), ("iat", .integer(now)),
                ("exp", .integer(now + 3600)),
            ])
            for (name, value) in header { head[name] = value }
            for (name, value) in changes { claims[name] = value }
            var segments = JWSSegments(
                header: JSONValue.object(head).serialized(), payload: JSONValue.object(claims).serialized())
            segments.signature = try key.signature(for: segments.signingInput)
            return segments.compact
        }
    }

    private func call(
        _ google: GoogleUnderTest, _ token: String, _ path: String, _ body: String? = nil
    ) async throws -> GoogleUnderTest.Response {
        try await google.send(
            body == nil ? .GET : .POST, "/v1beta/\(path)", headers: ["Authorization": "Bearer \(token)"],
            body: body)
    }

    private func stream(_ url: String, _ events: [String] = [sessions], method: String = push) -> String {
        let list = events.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"delivery":{"delivery_method":"\#(method)","url":"\#(url)"},"events_requested":[\#(list)]}"#
    }

    @Test func `a receiver is registered, shown, disabled and enabled, and survives a restart`() async throws
    {
        try await TemporaryDirectory.with { directory in
            let file = directory.path(of: "google")
            try await GoogleUnderTest.run({ $0.stateFile = file }) { google in
                let token = try await Account(google).token()
                #expect(try await call(google, token, "stream").status == 404)
                #expect(try await call(google, token, "stream/status").status == 404)
                let url = "\(google.server.issuer)/v1/google/security-events"
                #expect(try await call(google, token, "stream:update", stream(url)).status == 200)
                let shown = try await call(google, token, "stream").json
                #expect(shown?["delivery"]?["url"]?.string == url)
                #expect(shown?["events_requested"]?.array == [.string(Self.sessions)])
                #expect(try await call(google, token, "stream/status").json?["status"]?.string == "enabled")
                let off = try await call(google, token, "stream/status:update", #"{"status":"disabled"}"#)
                #expect(off.status == 200)
                // A change of the URL does not enable it.
                #expect(try await call(google, token, "stream:update", stream(url)).status == 200)
                #expect(try await call(google, token, "stream/status").json?["status"]?.string == "disabled")
            }
            try await GoogleUnderTest.run({ ($0.stateFile, $0.key) = (file, nil) }) { google in
                let shown = try await google.control("stream", method: .GET).json
                #expect(shown?["status"]?.string == "disabled")
                #expect(shown?["url"]?.string?.hasSuffix("/v1/google/security-events") == true)
                let removed = try await google.control("stream", method: .DELETE).json
                #expect(removed?["url"] == nil)
            }
        }
    }

    @Test(
        arguments: [
            (["alg": .string("none")], [:]), (["alg": .string("HS256")], [:]), (["kid": .string("x")], [:]),
            (["kid": nil], [:]), ([:], ["iss": .string("other@x")]), ([:], ["sub": .string("other@x")]),
            ([:], ["aud": .string("https://risc.googleapis.com/")]), ([:], ["iat": nil]), ([:], ["exp": nil]),
            ([:], ["exp": .integer(GoogleUnderTest.now)]),
            ([:], ["exp": .integer(GoogleUnderTest.now + 3601)]),
            ([:], ["iat": .integer(GoogleUnderTest.now + 61), "exp": .integer(GoogleUnderTest.now + 100)]),
        ] as [([String: JSONValue?], [String: JSONValue?])])
    func `refuses a token that is not the account's own for this API`(
        header: [String: JSONValue?], claims: [String: JSONValue?]
    ) async throws {
        try await GoogleUnderTest.run { google in
            let token = try await Account(google).token(header: header, claims: claims)
            let response = try await call(google, token, "stream")
            #expect(response.status == 401)
            #expect(response.json?["error"]?["status"]?.string == "UNAUTHENTICATED")
        }
    }

    @Test func `refuses another key, a missing role and a project without the API`() async throws {
        try await GoogleUnderTest.run { google in
            let (account, other) = (try await Account(google), try await Account(google))
            let forged = try other.token(
                header: ["kid": .string(account.keyID)],
                claims: ["iss": .string(account.email), "sub": .string(account.email)])
            #expect(try await call(google, forged, "stream").status == 401)
            #expect(try await google.get("/v1beta/stream").status == 401)
            let noRole = try await Account(google, #"{"role":false}"#).token()
            let refused = try await call(google, noRole, "stream")
            #expect(refused.status == 403)
            #expect(refused.json?["error"]?["details"] == nil)
            let noAPI = try await Account(google, #"{"api":false}"#).token()
            let disabled = try await call(google, noAPI, "stream")
            #expect(disabled.status == 403)
            let details = disabled.json?["error"]?["details"]?.array
            #expect(details?.first?["reason"]?.string == "SERVICE_DISABLED")
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"delivery":{}}"#,
        #"{"delivery":{"delivery_method":"poll","url":"URL"},"events_requested":["EVENT"]}"#,
        #"{"delivery":{"delivery_method":"PUSH","url":"https://other.example/x"},"events_requested":["EVENT"]}"#,
        #"{"delivery":{"delivery_method":"PUSH","url":"ftp://x"},"events_requested":["EVENT"]}"#,
        #"{"delivery":{"delivery_method":"PUSH","url":"URL"},"events_requested":[]}"#,
        #"{"delivery":{"delivery_method":"PUSH","url":"URL"},"events_requested":["https://x/unknown"]}"#,
        #"{"delivery":{"delivery_method":"PUSH","url":"URL"},"events_requested":["EVENT","EVENT"]}"#,
    ])
    func `refuses a registration that it cannot use, also on a foreign domain`(body: String) async throws {
        try await GoogleUnderTest.run { google in
            let token = try await Account(google).token()
            let text = body.replacing("URL", with: google.server.issuer).replacing("PUSH", with: Self.push)
                .replacing("EVENT", with: Self.sessions)
            let response = try await call(google, token, "stream:update", text)
            #expect(response.status == 400, "\(response.text)")
            #expect(response.json?["error"]?["status"]?.string == "INVALID_ARGUMENT")
            #expect(try await call(google, token, "stream").status == 404)
        }
    }

    @Test func `a verification goes to the registered URL, signed, with the state`() async throws {
        try await GoogleUnderTest.run { google in
            let token = try await Account(google).token()
            #expect(try await call(google, token, "stream:verify", #"{"state":"s-1"}"#).status == 404)
            let url = "\(google.server.issuer)/v1/google/security-events"
            _ = try await call(google, token, "stream:update", stream(url))
            #expect(try await call(google, token, "stream:verify", "{}").status == 400)
            #expect(try await call(google, token, "stream:verify", #"{"state":"s-1"}"#).status == 200)
            let sent = try #require(google.server.received("/v1/google/security-events").last)
            let claims = try JSONValue(parsing: try #require(JWSSegments(compact: sent.body)).payload)
            let uri = "https://schemas.openid.net/secevent/risc/event-type/verification"
            #expect(claims["events"]?[uri]?["state"]?.string == "s-1")
        }
    }

    @Test func `a disabled receiver gets nothing, and an enabled one only what it asked for`() async throws {
        try await GoogleUnderTest.run { google in
            let token = try await Account(google).token()
            let url = "\(google.server.issuer)/v1/google/security-events"
            _ = try await call(google, token, "stream:update", stream(url))
            let wanted = try await google.control("send-event", #"{"type":"sessions-revoked"}"#)
            #expect(wanted.json?["status"]?.integer == 202)
            let other = try await google.control("send-event", #"{"type":"account-disabled"}"#)
            #expect(other.json?["code"]?.string == "event_not_sent")
            _ = try await call(google, token, "stream/status:update", #"{"status":"disabled"}"#)
            let off = try await google.control("send-event", #"{"type":"sessions-revoked"}"#)
            #expect(off.json?["code"]?.string == "event_not_sent")
            #expect(try await call(google, token, "stream:verify", #"{"state":"s"}"#).status == 400)
            #expect(google.server.received("/v1/google/security-events").count == 1)
        }
    }

    @Test(arguments: [401, 403, 404, 429, 500])
    func `a fault answers as Google does, and does no work`(status: Int) async throws {
        try await GoogleUnderTest.run { google in
            let token = try await Account(google).token()
            _ = try await google.control("faults/stream", #"{"status":\#(status),"times":1}"#, method: .PUT)
            let failed = try await call(google, token, "stream:update", stream(google.server.issuer))
            #expect(failed.status == status)
            #expect(failed.json?["error"]?["code"]?.integer == Int64(status))
            #expect(try await call(google, token, "stream").status == 404)
            #expect(
                try await call(google, token, "stream:update", stream(google.server.issuer)).status == 200)
        }
    }

    @Test func `keeps at most 8 service accounts, and shows no token and no key on its page`() async throws {
        try await GoogleUnderTest.run { google in
            let first = try await Account(google)
            let token = try first.token()
            _ = try await call(google, token, "stream")
            let page = try await google.get("/").text
            #expect(!page.contains(token.suffix(40)))
            #expect(!page.contains("PRIVATE KEY"))
            for _ in 0..<8 { _ = try await Account(google) }
            #expect(try await call(google, token, "stream").status == 401)
        }
    }
}
