import Encodings
import OAuthSamples
import StrictJSON
import Testing

@testable import HTTPAPI

/// Methods of sending an access token to `/oauth/userinfo`, and responses without a valid access token (RFC
/// 6750).
@Suite struct UserInfoTests {
    private var service: RunningService { .current }

    private static let path = "/oauth/userinfo"

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var path = UserInfoTests.path
        var method = "POST"
        var body = ""
        var type = OAuthEndpointTests.form
        var authorization: String?
        let status: Int
        /// Error code of the body; `nil` for an empty body.
        let error: String?
        let challenge: String

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "without a token there is no error code (RFC 6750 section 3.1)", status: 401, error: nil,
            challenge: #"Bearer realm="siwa""#),
        Case(
            name: "another scheme", method: "GET", authorization: "Basic c2hvcDp4", status: 401,
            error: nil, challenge: #"Bearer realm="siwa""#),
        Case(
            name: "a token in JSON is none", body: #"{"access_token":"x"}"#, type: "application/json",
            status: 401, error: nil, challenge: #"Bearer realm="siwa""#),
        Case(
            name: "an unknown token", method: "GET", authorization: "Bearer x", status: 401,
            error: "invalid_token", challenge: #"Bearer realm="siwa", error="invalid_token""#),
        Case(
            name: "a token in the query (token in the query refused)", path: path + "?access_token=x",
            method: "GET", status: 400, error: "invalid_request",
            challenge: #"Bearer realm="siwa", error="invalid_request""#),
        Case(
            name: "a token in two places", body: "access_token=x", authorization: "Bearer x", status: 400,
            error: "invalid_request", challenge: #"Bearer realm="siwa", error="invalid_request""#),
        Case(
            name: "a token twice in the form", body: "access_token=x&access_token=x", status: 400,
            error: "invalid_request", challenge: #"Bearer realm="siwa", error="invalid_request""#),
    ]

    @Test(.service { $0.hasOAuth = true }, arguments: cases)
    func `a client is told what RFC 6750 says`(test: Case) async throws {
        let response = try await OAuthEndpointTests.send(
            test.method, test.path, test.body, type: test.type, authorization: test.authorization, service)
        #expect(response.status == test.status)
        #expect(response.json?["error"]?.string == test.error)
        if test.error == nil { #expect(response.json == [:]) }
        #expect(response["www-authenticate"] == test.challenge)
        #expect(response["cache-control"] == "no-store")
    }

    @Test(.service { $0.hasOAuth = true })
    func `the token comes in the field or in the form`() async throws {
        let (account, tokens) = try await OAuthEndpointTests.link(service)
        let access = try #require(tokens["access_token"]?.string)
        let form = try await OAuthEndpointTests.post(service, Self.path, "access_token=\(access)")
        #expect(form.json?["sub"]?.string == account)
        for method in ["GET", "POST"] {
            let response = try await service.call(
                method, Self.path, body: method == "GET" ? nil : "", secret: access)
            #expect(response.json?["sub"]?.string == account)
        }
    }
}

/// A resource server that knows only HTTP Basic sends the name of its API key, and the key.
@Suite struct IntrospectionByNameTests {
    private var service: RunningService { .current }

    private static func ask(
        _ service: RunningService, _ name: String, _ secret: String, token: String
    ) async throws -> ProbeResponse {
        let basic = "Basic " + Base64.encode(Array("\(name):\(secret)".utf8))
        return try await OAuthEndpointTests.post(
            service, "/oauth/introspect", "token=\(token)", authorization: basic)
    }

    @Test(.service { $0.hasOAuth = true })
    func `a key with its name sees what it sees as a bearer token`() async throws {
        let (id, tokens) = try await OAuthEndpointTests.link(service)
        let access = try #require(tokens["access_token"]?.string)
        let seen = try await Self.ask(service, "backend", RunningService.secret, token: access).expecting(200)
        #expect(seen.json?["sub"]?.string == id)
        let limited = try await Self.ask(service, "second", RunningService.limitedSecret, token: access)
        #expect(limited.status == 200)
        #expect(limited.text == #"{"active":false}"#)
        #expect(!service.loggedText().contains(RunningService.secret))
    }

    @Test(.service { $0.hasOAuth = true })
    func `name and key belong together, and everything else is a client that is unknown`() async throws {
        for (name, secret) in [
            ("backend", "wrong"), ("backend", ""), ("", RunningService.secret),
            ("second", RunningService.secret), ("google", RunningService.secret),
            ("BACKEND", RunningService.secret), ("backend", OAuthSample.googleSecret),
        ] {
            let response = try await Self.ask(service, name, secret, token: "x")
            #expect(response.status == 401, "\(name)")
            #expect(response.json?["error"]?.string == "invalid_client")
            #expect(response["www-authenticate"]?.hasPrefix("Basic ") == true)
        }
        // A key is not a client: no tokens, and no revocation.
        let basic = "Basic " + Base64.encode(Array("backend:\(RunningService.secret)".utf8))
        for (path, body) in [
            ("/oauth/token", "grant_type=refresh_token&refresh_token=x"), ("/oauth/revoke", "token=x"),
        ] {
            let response = try await OAuthEndpointTests.post(service, path, body, authorization: basic)
            #expect(response.status == 401, "\(path)")
        }
    }
}

@Suite struct ProcessStatusTests {
    static let units = ProcessStatus.Units(ticksPerSecond: 100, pageBytes: 4096)
    /// The name of the program is its own choice.
    static let stat =
        "4711 (a) R (b) S 1 4711 4711 0 -1 4194560 9000 0 5 0 250 125 0 0 20 0 9 0 123456 340000768 2048 "
        + "18446744073709551615 1 1 0 0 0 0 0 4096 1 0 0 0 17 1 0 0 0 0 0\n"
    static let system = "cpu  1 2 3 4\nintr 1 2\nctxt 3\nbtime 1700000000\nprocesses 4\n"
    static let limits = """
        Limit                     Soft Limit           Hard Limit           Units     
        Max cpu time              unlimited            unlimited            seconds   
        Max open files            1024                 524288               files     
        """

    @Test func `is read from what Linux says`() throws {
        let status = try #require(
            ProcessStatus(
                stat: Self.stat, system: Self.system, limits: Self.limits, openFiles: 12, units: Self.units))
        #expect(status.processorSeconds == 3.75)
        #expect(status.startedAt == 1_700_001_234.56)
        #expect(status.threads == 9)
        #expect(status.virtualBytes == 340_000_768)
        #expect(status.residentBytes == 2048 * 4096)
        #expect(status.openFiles == 12)
        #expect(status.mostFiles == 1024)
    }

    @Test(arguments: [
        ("", system, limits), ("1 (a) S 1", system, limits), (stat, "cpu 1", limits), (stat, system, ""),
    ])
    func `is nothing where that is something else`(stat: String, system: String, limits: String) {
        #expect(
            ProcessStatus(stat: stat, system: system, limits: limits, openFiles: 1, units: Self.units) == nil)
    }

    #if os(Linux)
        @Test func `is that of this process`() throws {
            let status = try #require(ProcessStatus.read())
            #expect(status.residentBytes > 1_000_000)
            #expect(status.virtualBytes >= status.residentBytes)
            #expect(status.openFiles > 2)
            #expect(status.mostFiles >= Int64(status.openFiles))
            #expect(status.threads > 0)
            #expect(status.startedAt > 1_500_000_000)
        }
    #endif
}
