import Cryptography
import EmulatorServer
import Encodings
import Foundation
import GoogleEmulator
import Hummingbird
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Google's RISC API, by which a receiver of security events is registered.
@Suite(.google(), .timeLimit(.hung)) struct EventStreamTests {
    let google = GoogleUnderTest.current

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
            var head = JSONObject([("alg", "RS256"), ("kid", .string(keyID))])
            var claims = JSONObject([
                ("iss", .string(email)), ("sub", .string(email)), ("aud", .string(EventStreamTests.audience)),
                ("iat", .integer(now)), ("exp", .integer(now + 3600)),
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
                #expect(try await google.control("stream", method: .DELETE).json?["url"] == nil)
            }
        }
    }

    @Test(
        arguments: [
            (["alg": "none"], [:]), (["alg": "HS256"], [:]), (["kid": "x"], [:]),
            (["kid": nil], [:]), ([:], ["iss": "other@x"]), ([:], ["sub": "other@x"]),
            ([:], ["aud": "https://risc.googleapis.com/"]), ([:], ["iat": nil]), ([:], ["exp": nil]),
            ([:], ["exp": .integer(GoogleUnderTest.now)]),
            ([:], ["exp": .integer(GoogleUnderTest.now + 3601)]),
            ([:], ["iat": .integer(GoogleUnderTest.now + 61), "exp": .integer(GoogleUnderTest.now + 100)]),
        ] as [([String: JSONValue?], [String: JSONValue?])])
    func `refuses a token that is not the account's own for this API`(
        header: [String: JSONValue?], claims: [String: JSONValue?]
    ) async throws {
        let token = try await Account(google).token(header: header, claims: claims)
        let response = try await call(google, token, "stream")
        #expect(response.status == 401)
        #expect(response.json?["error"]?["status"]?.string == "UNAUTHENTICATED")
    }

    @Test func `refuses another key, a missing role and a project without the API`() async throws {
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
        let token = try await Account(google).token()
        let text = body.replacing("URL", with: google.server.issuer).replacing("PUSH", with: Self.push)
            .replacing("EVENT", with: Self.sessions)
        let response = try await call(google, token, "stream:update", text)
        #expect(response.status == 400, "\(response.text)")
        #expect(response.json?["error"]?["status"]?.string == "INVALID_ARGUMENT")
        #expect(try await call(google, token, "stream").status == 404)
    }

    @Test func `a verification goes to the registered URL, signed, with the state`() async throws {
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

    @Test func `a disabled receiver gets nothing, and an enabled one only what it asked for`() async throws {
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

    @Test(arguments: [401, 403, 404, 429, 500])
    func `a fault answers as Google does, and does no work`(status: Int) async throws {
        let token = try await Account(google).token()
        _ = try await google.control("faults/stream", #"{"status":\#(status),"times":1}"#, method: .PUT)
        let failed = try await call(google, token, "stream:update", stream(google.server.issuer))
        #expect(failed.status == status)
        #expect(failed.json?["error"]?["code"]?.integer == Int64(status))
        #expect(try await call(google, token, "stream").status == 404)
        #expect(try await call(google, token, "stream:update", stream(google.server.issuer)).status == 200)
    }

    @Test func `keeps at most 8 service accounts, and shows no token and no key on its page`() async throws {
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

@Suite(.google(), .timeLimit(.hung)) struct SecurityEventTests {
    let google = GoogleUnderTest.current

    private static let uri = "https://schemas.openid.net/secevent/oauth/event-type/token-revoked"

    private static func hash(_ token: String) -> String {
        Hexadecimal.encode(SHA512Digest.hash(SHA512Digest.hash(Array(token.utf8)).bytes).bytes)
    }

    private static func event(_ token: String) -> JSONObject {
        JSONObject([
            ("subject_type", "oauth_token"), ("token_type", "refresh_token"),
            ("token_identifier_alg", "hash_SHA512_double"), ("token", .string(hash(token))),
        ])
    }

    /// A token of the scripted server; set a claim to change it, to `nil` to leave it out.
    private static func token(
        _ google: GoogleUnderTest, key: GoogleKey? = nil, algorithm: String = "RS256",
        claims changes: [String: JSONValue?] = [:]
    ) throws -> String {
        let key = key ?? google.server.key
        var claims = JSONObject([
            ("iss", .string(google.server.issuer)), ("aud", "google_account_linking"),
            ("iat", .integer(GoogleUnderTest.now)), ("jti", "event-1"),
            ("events", .object(JSONObject([(uri, .object(event("refresh-token-number-1")))]))),
        ])
        for (name, value) in changes { claims[name] = value }
        let header = JSONObject([
            ("alg", .string(algorithm)), ("kid", .string(google.server.key.keyID)), ("typ", "secevent+jwt"),
        ])
        var segments = JWSSegments(
            header: JSONValue.object(header).serialized(), payload: JSONValue.object(claims).serialized())
        segments.signature = try key.privateKey.signature(for: segments.signingInput)
        return segments.compact
    }

    private static func report(_ google: GoogleUnderTest, _ token: String) async throws
        -> GoogleUnderTest.Response
    {
        try await google.send(
            .POST, "/v1beta/events:report", headers: ["Content-Type": "application/secevent+jwt"], body: token
        )
    }

    @Test func `a report of a known refresh token ends its link, and a repeated one changes nothing`()
        async throws
    {
        try await google.link()
        for _ in 0..<2 { #expect(try await Self.report(google, Self.token(google)).status == 202) }
        #expect(google.service.state.links.last?.status == .unlinkedByService)
        let event = try #require(google.service.state.receivedEvents.first)
        #expect(google.service.state.receivedEvents.count == 1)
        #expect(event.deliveries == 2)
        #expect(event.linkID == "1")
    }

    @Test(
        arguments: [
            (["iss": "https://evil.example"], "invalid_issuer"),
            (["aud": "other"], "invalid_audience"),
            (["exp": 2_000_000_000], "invalid_request"),
            (["jti": nil], "invalid_request"), (["iat": nil], "invalid_request"),
            (["events": .object(JSONObject())], "invalid_request"),
        ] as [([String: JSONValue?], String)])
    func `refuses wrong claims`(changes: [String: JSONValue?], error: String) async throws {
        let response = try await Self.report(google, Self.token(google, claims: changes))
        #expect(response.status == 400)
        #expect(response.json?["err"]?.string == error)
        #expect(google.service.state.receivedEvents.isEmpty)
    }

    @Test func `refuses another key, another algorithm, no token and another type`() async throws {
        let other = try Self.token(google, key: GoogleKey.generate())
        #expect(try await Self.report(google, other).json?["err"]?.string == "authentication_failed")
        for token in [try Self.token(google, algorithm: "none"), "", "a.b.c"] {
            #expect(try await Self.report(google, token).json?["err"]?.string == "invalid_request")
        }
        let asForm = try await google.send(.POST, "/v1beta/events:report", body: try Self.token(google))
        #expect(asForm.status == 400)
    }

    @Test func `a fault answers for so many reports, and then they count`() async throws {
        let set = try await google.control("faults/report", #"{"status":503,"times":2}"#, method: .PUT)
        #expect(set.status == 200)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await Self.report(google, Self.token(google)).status) }
        #expect(statuses == [503, 503, 202])
        #expect(google.service.state.receivedEvents.first?.deliveries == 1)
    }

    @Test(arguments: [
        ("sessions-revoked", "risc"), ("tokens-revoked", "oauth"), ("account-disabled", "risc"),
        ("account-enabled", "risc"), ("account-credential-change-required", "risc"), ("verification", "risc"),
        ("token-revoked", "oauth"),
    ])
    func `sends its own events, signed with its own key`(type: String, family: String) async throws {
        try await google.link()
        let response = try await google.control(
            "send-event", #"{"type":"\#(type)","sub":"42","reason":"hijacking","state":"s","jti":"j"}"#)
        #expect(response.json?["status"]?.integer == 202)
        let request = try #require(google.server.received("/v1/google/security-events").first)
        #expect(request.headers[.contentType] == "application/secevent+jwt")
        let segments = try #require(JWSSegments(compact: request.body))
        let claims = try JSONValue(parsing: segments.payload)
        #expect(claims["iss"]?.string == "https://accounts.google.com/")
        #expect(claims["aud"]?.string == "123-fake.apps.googleusercontent.com")
        #expect(claims["jti"]?.string == "j")
        #expect(claims["exp"] == nil)
        let uri = "https://schemas.openid.net/secevent/\(family)/event-type/\(type)"
        let event = try #require(claims["events"]?[uri])
        switch type {
        case "verification": #expect(event["state"]?.string == "s")
        case "token-revoked":
            #expect(event["subject"]?["token"]?.string == Self.hash("refresh-token-number-1"))
        default: #expect(event["subject"]?["sub"]?.string == "42")
        }
        let keys = try await google.get("/oauth2/v3/certs")
        let set = try JSONWebKeySet(parsing: Array(keys.text.utf8))
        let header = try JSONValue(parsing: segments.header)
        let key = try #require(set.key(for: header["kid"]?.string ?? ""))
        #expect(key.isValidSignature(segments.signature, for: segments.signingInput[...]))
    }

    @Test func `its configuration for events names its keys`() async throws {
        let json = try await google.get("/.well-known/risc-configuration").json
        #expect(json?["issuer"]?.string == "https://accounts.google.com/")
        #expect(json?["jwks_uri"]?.string == "http://127.0.0.1:\(google.port)/oauth2/v3/certs")
        #expect(try await google.control("keys/rotate").json?["kid"]?.string != nil)
        #expect(try await google.get("/oauth2/v3/certs").json?["keys"]?.array?.count == 2)
    }
}
