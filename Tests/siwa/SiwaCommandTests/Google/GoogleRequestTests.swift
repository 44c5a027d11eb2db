import AppleIDClient
import AsyncHTTPClient
import EventDelivery
import Foundation
import JOSE
import KeySets
import NIOCore
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

@testable import Composition

/// Requests to Google over real sockets: timeouts, lost connections and limits are the behaviour of the
/// transport.
@Suite(.timeLimit(.hung)) struct GoogleRequestTests {
    private static let patient = AppleTimeLimits(
        connect: .seconds(50), read: .seconds(50), total: .seconds(50))

    /// Runs `body` with a client like the service's own.
    private func with<Result>(
        _ answer: @escaping @Sendable (Int) -> ScriptedServer.Response,
        _ body: (HTTPClient, ScriptedServer, GoogleEndpoints) async throws -> Result
    ) async throws -> Result {
        let server = try await ScriptedServer(answer)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple(Self.patient))
        let endpoints = try #require(GoogleEndpoints(baseURL: server.baseURL + "/"))
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(client, server, endpoints)) } catch { result = .failure(error) }
        try await client.shutdown()
        try await server.close()
        return try result.get()
    }

    private func report(
        _ answer: ScriptedServer.Response, timeLimit: TimeAmount = .seconds(50)
    ) async throws -> (error: DeliveryError?, requests: [String]) {
        try await with({ _ in answer }) { client, server, endpoints in
            let reporter = GoogleEventReporter(client: client, endpoints: endpoints, limit: timeLimit)
            do {
                try await reporter.post(
                    EventMessage(
                        fields: ["content-type": "application/secevent+jwt"], body: Array("a.b.c".utf8)),
                    while: { true })
                return (nil, server.requests)
            } catch {
                return (try #require(error as? DeliveryError), server.requests)
            }
        }
    }

    // Reports of security events

    @Test func `a report is one request with the token, and 202 is success`() async throws {
        let (error, requests) = try await report(.json("{}", status: 202))
        #expect(error == nil)
        let request = try #require(requests.first).lowercased()
        #expect(requests.count == 1)
        #expect(request.hasPrefix("post /v1beta/events:report http/1.1\r\n"))
        #expect(request.contains("\r\ncontent-type: application/secevent+jwt\r\n"))
        #expect(request.contains("\r\ncontent-length: 5\r\n"))
    }

    @Test(
        arguments: [200, 204, 401, 403, 404, 429, 500, 503].map { ($0, .refused) } + [(400, .eventRefused)]
            as [(Int, DeliveryError.Code)])
    func `another status is a refusal of everything, and 400 of this token`(
        status: Int, code: DeliveryError.Code
    ) async throws {
        let (error, requests) = try await report(.json("{}", status: status))
        #expect(error == DeliveryError(code, status: status))
        #expect(error?.status == status)
        #expect(requests.count == 1)
    }

    @Test(arguments: [301, 302, 307, 308])
    func `a redirect is not followed: the token is for Google alone`(status: Int) async throws {
        let (error, requests) = try await report(
            .json("", status: status, headers: "Location: http://127.0.0.1:1/elsewhere\r\n"))
        #expect(error == DeliveryError(.redirected, status: status))
        #expect(requests.count == 1)
    }

    @Test(arguments: [
        ScriptedServer.Response.nothing, .sendAndClose(""), .sendAndClose("HTTP/1.1 2"),
        .send("garbage\r\n\r\n"),
    ])
    func `no answer in time, a lost connection and no HTTP are a failure`(
        answer: ScriptedServer.Response
    ) async throws {
        let (error, _) = try await report(answer, timeLimit: .milliseconds(300))
        #expect(error == DeliveryError(.unreachable))
    }

    @Test func `an answer without an end is not read`() async throws {
        let endless = ScriptedServer.Response.sendForever(
            "HTTP/1.1 202 Accepted\r\nContent-Length: 1000000000\r\n\r\n",
            chunk: String(repeating: "x", count: 1024), pause: .milliseconds(1))
        #expect(try await report(endless).error == nil)
    }

    // The keys of Google's security events

    private static let certificates = #"{"keys":[{"kty":"RSA"}]}"#

    private func keys(_ answer: ScriptedServer.Response) async throws -> KeySetResponse {
        try await with({ _ in answer }) { client, server, endpoints in
            try await RISCKeySetSource(client: client, endpoints: endpoints).fetch(ifNoneMatch: #""e""#)
        }
    }

    @Test func `the keys come from where Google's configuration says`() async throws {
        let other = try await ScriptedServer(always: .json(Self.certificates))
        try await with({ _ in .json(#"{"issuer":"x","jwks_uri":"\#(other.baseURL)/keys"}"#) }) {
            client, server, endpoints in
            let source = RISCKeySetSource(client: client, endpoints: endpoints)
            let response = try await source.fetch(ifNoneMatch: #""e""#)
            #expect(response.body == Array(Self.certificates.utf8))
            let asked = try #require(server.requests.first).lowercased()
            #expect(asked.hasPrefix("get /.well-known/risc-configuration http/1.1\r\n"))
            // The entity tag is that of the keys.
            #expect(!asked.contains("if-none-match"))
        }
        let asked = try #require(other.requests.first).lowercased()
        #expect(asked.hasPrefix("get /keys http/1.1\r\n"))
        #expect(asked.contains("if-none-match: \"e\""))
        try await other.close()
    }

    @Test(arguments: [
        (ScriptedServer.Response.json("{}", status: 500), KeySetFetchError.Code.statusUnexpected),
        (.json("{}", status: 302, headers: "Location: /x\r\n"), .statusUnexpected), (.json("{}"), .malformed),
        (.json("[]"), .malformed), (.json("<html>"), .malformed), (.json(#"{"jwks_uri":7}"#), .malformed),
        (.json(#"{"jwks_uri":"\#(String(repeating: "x", count: 2049))"}"#), .malformed),
        (.sendAndClose(""), .unreachable),
    ])
    func `a configuration that cannot be used gives no keys`(
        answer: ScriptedServer.Response, code: KeySetFetchError.Code
    ) async throws {
        await #expect(throws: KeySetFetchError(code, detail: "")) { _ = try await keys(answer) }
    }

    @Test func `a configuration that is too large is not read to its end`() async throws {
        let large = ScriptedServer.Response.json(
            "{\"a\":\"" + String(repeating: "x", count: 1_000_000) + "\"}")
        await #expect(throws: KeySetFetchError(.tooLarge, detail: "")) { _ = try await keys(large) }
    }

    @Test(arguments: ["ftp://x", "http://", "http://u@x", "http://x?a", "http://x#a", "x", "http://x:0"])
    func `another base URL has no endpoints`(url: String) { #expect(GoogleEndpoints(baseURL: url) == nil) }
}

/// The JSON key file of a service account, and the token that it signs.
@Suite struct ServiceAccountKeyTests {
    private static let pem = Result { try RSAPrivateKey.generate(bits: 2048).pem }

    static func file(_ changes: [String: JSONValue?] = [:]) throws -> [UInt8] {
        var file = JSONObject([
            ("type", .string("service_account")), ("project_id", .string("home-link")),
            ("private_key_id", .string("key-1")), ("private_key", .string(try pem.get())),
            ("client_email", .string("risc@home-link.iam.gserviceaccount.invalid")),
        ])
        for (name, value) in changes { file[name] = value }
        return JSONValue.object(file).serialized()
    }

    static func key(_ changes: [String: JSONValue?] = [:]) throws -> ServiceAccountKey {
        try ServiceAccountKey(json: file(changes), name: "key.json")
    }

    @Test func `the token is the account's own, for an hour, in RS256`() throws {
        let key = try Self.key()
        let segments = try #require(JWSSegments(compact: try key.token(at: 1_800_000_000)))
        let header = try JSONValue(parsing: segments.header)
        #expect(header["alg"]?.string == "RS256" && header["kid"]?.string == "key-1")
        let claims = try JSONValue(parsing: segments.payload)
        #expect(claims["iss"]?.string == key.email && claims["sub"]?.string == key.email)
        #expect(
            claims["aud"]?.string
                == "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService")
        #expect(claims["iat"]?.integer == 1_800_000_000 && claims["exp"]?.integer == 1_800_003_600)
        let publicKey = try RSAPrivateKey(pem: Self.pem.get()).publicKey()
        #expect(publicKey.isValidSignature(segments.signature, for: segments.signingInput[...]))
    }

    @Test(
        arguments: [
            ["type": .string("authorized_user")], ["type": nil], ["client_email": nil],
            ["client_email": .string("no address")], ["client_email": .string("a@b\n")],
            ["client_email": .string("x")], ["private_key_id": nil], ["private_key_id": .string("")],
            ["private_key": nil], ["private_key": .string("x")],
            ["private_key": .string("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")],
        ] as [[String: JSONValue?]])
    func `refuses a file that is none, and repeats no secret`(changes: [String: JSONValue?]) throws {
        let error = try #require(throws: EventStreamError.self) { try Self.key(changes) }
        #expect(error.code == .keyMalformed)
        #expect(!"\(error)".contains("BEGIN"))
    }

    @Test(arguments: ["", "[]", "{", "\u{0}", "-----BEGIN PRIVATE KEY-----"])
    func `refuses what is no JSON object`(text: String) {
        #expect(throws: EventStreamError(.keyMalformed, "")) {
            try ServiceAccountKey(json: Array(text.utf8), name: "key.json")
        }
    }

    @Test func `refuses a missing, an empty and an endless file`() async throws {
        try await TemporaryDirectory.with { directory in
            for (name, size) in [("none", nil), ("empty", 0), ("long", 16_385)] as [(String, Int?)] {
                let path = directory.path(of: name)
                if let size { try Data(repeating: 0x20, count: size).write(to: URL(fileURLWithPath: path)) }
                #expect(throws: EventStreamError.self) { try ServiceAccountKey(file: path) }
            }
            #expect(throws: EventStreamError(.keyUnreadable, "")) { try ServiceAccountKey(file: "/dev/zero") }
        }
    }

    @Test func `the private key is in no description`() throws {
        let key = try Self.key()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("PRIVATE KEY"))
            #expect(text.contains("key-1"))
        }
    }

    @Test(arguments: [("a@b.iam.gserviceaccount.com", true), ("a@b.iam.gserviceaccount.invalid", false)])
    func `a token of Google's own account goes to Google alone`(email: String, isGoogle: Bool) throws {
        let key = try Self.key(["client_email": .string(email)])
        #expect(key.isOfGoogle == isGoogle)
    }
}
