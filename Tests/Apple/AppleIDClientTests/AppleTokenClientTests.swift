import AppleIDClient
import AsyncHTTPClient
import Encodings
import JOSE
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

/// Each call when it succeeds and when Apple refuses it.
@Suite(.timeLimit(.hung)) struct AppleTokenClientTests {
    /// The fields of a form.
    static func form(_ request: String) throws -> [String: String] {
        let body = try #require(request.components("\r\n\r\n").last)
        var fields: [String: String] = [:]
        for pair in body.components("&") {
            let halves = pair.components("=")
            #expect(halves.count == 2)
            fields[halves[0]] = halves[1]
        }
        return fields
    }

    @Test func `exchanges a code`() async throws {
        let token = try await AskedClient.with({ _ in .token }) { client, server in
            let token = try await client.exchange(
                code: "c+0/d=e&f ü", clientID: AskedClient.clientID, redirectURI: nil)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /auth/token HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("content-type: application/x-www-form-urlencoded\r\n"))
            let form = try Self.form(request)
            #expect(Set(form.keys) == ["client_id", "client_secret", "grant_type", "code"])
            #expect(form["client_id"] == "com.example.app")
            #expect(form["grant_type"] == "authorization_code")
            #expect(form["code"] == "c%2B0%2Fd%3De%26f%20%C3%BC")
            #expect(form["client_secret"]?.components(".").count == 3)
            return token
        }
        #expect(
            token
                == AppleTokenResponse(
                    accessToken: "a.t", refreshToken: "r.t", identityToken: "i.t.s", expiresIn: .seconds(3600)
                ))
        #expect(!"\(token)".contains("r.t"))
    }

    @Test func `exchanges a code of the web flow with its redirect URI`() async throws {
        try await AskedClient.with({ _ in .token }) { client, server in
            _ = try await client.exchange(
                code: "c", clientID: AskedClient.clientID, redirectURI: "https://example.com/cb")
            let form = try Self.form(try #require(server.requests.first))
            #expect(form["redirect_uri"] == "https%3A%2F%2Fexample.com%2Fcb")
        }
    }

    @Test(arguments: ["Bearer", "bearer", "BEARER"])
    func `validates a refresh token`(type: String) async throws {
        let response = #"{"access_token":"a.t","token_type":"\#(type)","expires_in":3600,"id_token":"i.t.s"}"#
        try await AskedClient.with({ _ in .json(response) }) { client, server in
            let token = try await client.validate(refreshToken: "r.t", clientID: AskedClient.clientID)
            #expect(token.refreshToken == nil)
            let form = try Self.form(try #require(server.requests.first))
            #expect(form["grant_type"] == "refresh_token")
            #expect(form["refresh_token"] == "r.t")
        }
    }

    @Test func `revokes a refresh token, and accepts the empty response`() async throws {
        try await AskedClient.with({ _ in .emptyOK }) { client, server in
            try await client.revoke(refreshToken: "r.t", clientID: AskedClient.clientID)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /auth/revoke HTTP/1.1\r\n"))
            let form = try Self.form(request)
            #expect(form["token"] == "r.t")
            #expect(form["token_type_hint"] == "refresh_token")
        }
    }

    @Test(arguments: [
        ("invalid_request", AppleErrorCode.invalidRequest), ("invalid_grant", .invalidGrant),
        ("unauthorized_client", .unauthorizedClient), ("unsupported_grant_type", .unsupportedGrantType),
        ("invalid_scope", .invalidScope), ("user_is_a_teapot", .other),
    ])
    func `reports Apple's refusal, and calls once`(word: String, code: AppleErrorCode) async throws {
        for call in [Call.exchange, .validate, .revoke] {
            try await AskedClient.with({ _ in .refusal(word) }) { client, server in
                let error = try #require(await call.failure(client))
                #expect(error == AppleCallError(.rejected, appleError: code), "\(call)")
                #expect(error.isFinal && !error.mayHaveHappened)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test(arguments: [Call.exchange, .validate, .revoke])
    func `when a secret is refused, the next key is tried, and the accepted one is used first later`(
        call: Call
    )
        async throws
    {
        let keys = [try ClientSigningKey.sample("NEWNEWNEW1"), try ClientSigningKey.sample("OLDOLDOLD1")]
        try await AskedClient.with(
            { number in
                number == 1 ? .refusal("invalid_client") : call == .revoke ? .emptyOK : .token
            }, keys: keys
        ) { client, server in
            try await call.make(client)
            #expect(server.requests.count == 2)
            try await call.make(client)
            #expect(server.requests.count == 3)
            let secrets = try server.requests.map { try #require(try Self.form($0)["client_secret"]) }
            #expect(secrets[0] != secrets[1])
            #expect(secrets[1] == secrets[2])
        }
    }

    @Test(arguments: [400, 401])
    func `when every secret is refused, the call fails with that error`(status: Int) async throws {
        let keys = [try ClientSigningKey.sample("NEWNEWNEW1"), try ClientSigningKey.sample("OLDOLDOLD1")]
        try await AskedClient.with({ _ in .refusal("invalid_client", status: status) }, keys: keys) {
            client, server in
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.rejected, appleError: .invalidClient))
            #expect(error.isOfConfiguration)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a refused code shows that the secret was accepted`() async throws {
        let keys = [try ClientSigningKey.sample("NEWNEWNEW1"), try ClientSigningKey.sample("OLDOLDOLD1")]
        try await AskedClient.with(
            { $0 == 1 ? .refusal("invalid_client") : .refusal("invalid_grant") }, keys: keys
        ) { client, server in
            #expect(await Call.exchange.failure(client)?.appleError == .invalidGrant)
            #expect(await Call.exchange.failure(client)?.appleError == .invalidGrant)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: Call.allCases) func `without a key nothing is sent`(call: Call) async throws {
        try await AskedClient.with({ _ in .token }, keys: []) { client, server in
            #expect(await call.failure(client) == AppleCallError(.noSigningKey))
            #expect(server.requests.isEmpty)
        }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}

@Suite(.timeLimit(.hung)) struct AppleMigrationTests {
    @Test func `requests a transfer identifier with a cached access token`() async throws {
        let time = ManualClock(millisecondsSince1970: 1_700_000_000_000)
        try await AskedClient.with(
            { $0 == 1 || $0 == 4 ? .token : .json(#"{"transfer_sub":"0.t.1"}"#) }, time: time
        ) { client, server in
            for _ in 0..<2 {
                let transfer = try await client.transferSubject(
                    of: "0.a.1", to: "F6G7H8I9J0", clientID: AskedClient.clientID)
                #expect(transfer == "0.t.1")
            }
            #expect(server.requests.count == 3)
            let token = try AppleTokenClientTests.form(server.requests[0])
            #expect(token["grant_type"] == "client_credentials")
            #expect(token["scope"] == "user.migration")
            #expect(server.requests[1].hasPrefix("POST /auth/usermigrationinfo HTTP/1.1\r\n"))
            #expect(server.requests[1].contains("\r\nAuthorization: Bearer a.t\r\n"))
            let form = try AppleTokenClientTests.form(server.requests[1])
            #expect(form["sub"] == "0.a.1")
            #expect(form["target"] == "F6G7H8I9J0")
            #expect(form["client_id"] == AskedClient.clientID)
            #expect(form["client_secret"] != nil)
            time.secondsSince1970 += 3240
            _ = try await client.transferSubject(
                of: "0.a.1", to: "F6G7H8I9J0", clientID: AskedClient.clientID)
            #expect(server.requests.count == 5)
        }
    }

    @Test(arguments: [
        (#"{"sub":"0.b.1"}"#, MigratedUser(subject: "0.b.1", email: nil, isPrivateEmail: nil)),
        (
            #"{"sub":"0.b.1","email":"a@privaterelay.appleid.com","is_private_email":true}"#,
            MigratedUser(subject: "0.b.1", email: "a@privaterelay.appleid.com", isPrivateEmail: true)
        ),
        (
            #"{"sub":"0.b.1","email":"a@example.com","is_private_email":"false"}"#,
            MigratedUser(subject: "0.b.1", email: "a@example.com", isPrivateEmail: false)
        ),
    ])
    func `reads a user's new identity for the recipient`(response: String, user: MigratedUser) async throws {
        try await AskedClient.with({ $0 == 1 ? .token : .json(response) }) { client, server in
            let found = try await client.recipient(ofTransferSubject: "0.t.1", clientID: AskedClient.clientID)
            #expect(found == user)
            #expect(!"\(found)".contains("0.b.1"))
            #expect(try AppleTokenClientTests.form(server.requests[1])["transfer_sub"] == "0.t.1")
        }
    }

    @Test(
        arguments: [Call.transferSubject, .recipient],
        ["", "{}", "<html>", #"{"sub":"","transfer_sub":""}"#, #"{"sub":1,"transfer_sub":1}"#])
    func `any other response is unusable`(call: Call, response: String) async throws {
        try await AskedClient.with({ $0 == 1 ? .token : .json(response) }) { client, _ in
            #expect(await call.failure(client) == AppleCallError(.responseUnusable))
        }
    }

    @Test func `an access token that has expired early is replaced once`() async throws {
        try await AskedClient.with({ number in
            switch number {
            case 1, 4: .token
            case 3: .refusal("invalid_token", status: 401)
            default: .json(#"{"transfer_sub":"0.t.1"}"#)
            }
        }) { client, server in
            #expect(await Call.transferSubject.failure(client) == nil)
            #expect(await Call.transferSubject.failure(client) == nil)
            #expect(server.requests.count == 5)
        }
    }

    @Test func `a refused user is an error at once`() async throws {
        try await AskedClient.with({ $0 == 1 ? .token : .refusal("invalid_request") }) { client, server in
            let refusal = AppleCallError(.rejected, appleError: .invalidRequest)
            #expect(await Call.recipient.failure(client) == refusal)
            #expect(await Call.recipient.failure(client) == refusal)
            #expect(server.requests.count == 3)
        }
    }
}

/// A token client for one scripted server, during a test.
enum AskedClient {
    /// Long enough for a busy machine, for tests that are not about time.
    static let patient = AppleTimeLimits(connect: .seconds(50), read: .seconds(50), total: .seconds(50))
    static let impatient = AppleTimeLimits(
        connect: .milliseconds(300), read: .milliseconds(300), total: .milliseconds(300))

    static let clientID = "com.example.app"

    static func with<Result>(
        _ baseURL: String, keys: [ClientSigningKey]? = nil, limits: AppleTimeLimits = patient,
        time: ManualClock = ManualClock(millisecondsSince1970: 1_700_000_000_000),
        _ body: (AppleTokenClient) async throws -> Result
    ) async throws -> Result {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple(limits))
        let secrets = SignedClientSecrets(
            teams: [clientID: "A1B2C3D4E5"], keys: ChangingKeys(try keys ?? [.sample()]),
            secondsSince1970: { time.secondsSince1970 })
        let service = AppleTokenClient(
            client: client, endpoints: try #require(AppleEndpoints(baseURL: baseURL)), secrets: secrets,
            limits: limits, uptime: { .seconds(time.secondsSince1970) })
        do {
            let result = try await body(service)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Starts a server with these responses, runs the test, and stops the server.
    static func with<Result>(
        _ response: @escaping @Sendable (Int) -> ScriptedServer.Response, keys: [ClientSigningKey]? = nil,
        limits: AppleTimeLimits = patient,
        time: ManualClock = ManualClock(millisecondsSince1970: 1_700_000_000_000),
        _ body: (AppleTokenClient, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = try await ScriptedServer(response)
        do {
            let result = try await with(server.baseURL, keys: keys, limits: limits, time: time) {
                try await body($0, server)
            }
            try await server.close()
            return result
        } catch {
            try? await server.close()
            throw error
        }
    }
}

/// All calls to Apple, for tests of each of them.
enum Call: String, CaseIterable, Sendable {
    case exchange, validate, revoke, transferSubject, recipient

    func make(_ client: AppleTokenClient) async throws(AppleCallError) {
        switch self {
        case .exchange:
            _ = try await client.exchange(code: "c0de", clientID: AskedClient.clientID, redirectURI: nil)
        case .validate: _ = try await client.validate(refreshToken: "r.t", clientID: AskedClient.clientID)
        case .revoke: try await client.revoke(refreshToken: "r.t", clientID: AskedClient.clientID)
        case .transferSubject:
            _ = try await client.transferSubject(
                of: "0.a.1", to: "F6G7H8I9J0", clientID: AskedClient.clientID)
        case .recipient:
            _ = try await client.recipient(ofTransferSubject: "0.t.1", clientID: AskedClient.clientID)
        }
    }

    /// Number of attempts when every connection is lost.
    var attempts: Int {
        switch self {
        case .exchange, .validate: 1
        case .revoke, .transferSubject, .recipient: 2
        }
    }

    /// The error of a call that must fail.
    func failure(_ client: AppleTokenClient) async -> AppleCallError? {
        do throws(AppleCallError) {
            try await make(client)
            return nil
        } catch { return error }
    }
}

@Suite(.timeLimit(.hung)) struct AppleReceiptClientTests {
    private static let receipt: [UInt8] = [1, 2, 3, 4]

    private func with<Result>(
        _ response: @escaping @Sendable (Int) -> ScriptedServer.Response, keys: [ClientSigningKey],
        _ body: (AppleReceiptClient, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = try await ScriptedServer(response)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple(AskedClient.patient))
        let client = AppleReceiptClient(
            client: http, endpoints: try #require(AppleEndpoints(baseURL: server.baseURL)),
            keys: ChangingKeys(keys), limits: AskedClient.patient, secondsSince1970: { 1_700_000_000 })
        do {
            let result = try await body(client, server)
            try await http.shutdown()
            try await server.close()
            return result
        } catch {
            try? await http.shutdown()
            try? await server.close()
            throw error
        }
    }

    private func exchange(
        _ client: AppleReceiptClient, isProduction: Bool = true
    ) async -> Result<ReceiptResponse, AppleCallError> {
        do throws(AppleCallError) {
            return .success(
                try await client.exchange(
                    receipt: Self.receipt, team: "A1B2C3D4E5", isProduction: isProduction))
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [(true, "/v1/attestationData"), (false, "/development/v1/attestationData")])
    func `posts the receipt with a token of the team, without Bearer`(
        isProduction: Bool, path: String
    ) async throws {
        let key = try ClientSigningKey.sample()
        try await with({ _ in .json("BQYH") }, keys: [key]) { client, server in
            #expect(await exchange(client, isProduction: isProduction) == .success(.refreshed([5, 6, 7])))
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST \(path) HTTP/1.1\r\n"))
            #expect(request.hasSuffix(Base64.encode(Self.receipt)))
            let line = try #require(
                request.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") })
            let segments = try #require(JWSSegments(compact: String(line.dropFirst(15))))
            let header = try JSONValue(parsing: segments.header)
            #expect(header["alg"]?.string == "ES256" && header["kid"]?.string == key.keyID)
            let claims = try JSONValue(parsing: segments.payload)
            #expect(claims["iss"]?.string == "A1B2C3D4E5" && claims["iat"]?.integer == 1_700_000_000)
        }
    }

    @Test(arguments: [(304, ReceiptResponse.tooEarly), (400, .refused), (404, .forgotten)])
    func `a status is a response of its own`(status: Int, expected: ReceiptResponse) async throws {
        let response = ScriptedServer.Response.send("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n")
        try await with({ _ in response }, keys: [.sample()]) { client, _ in
            #expect(await exchange(client) == .success(expected))
        }
    }

    @Test(arguments: [
        (429, AppleCallError(.throttled)), (500, AppleCallError(.serverFailed)),
        (503, AppleCallError(.serverFailed)), (302, AppleCallError(.responseUnusable)),
    ])
    func `other statuses are errors`(status: Int, error: AppleCallError) async throws {
        try await with({ _ in .json("{}", status: status) }, keys: [.sample()]) { client, _ in
            #expect(await exchange(client) == .failure(error))
        }
    }

    @Test(arguments: ["", "not base64", "<html>"])
    func `a body that is no receipt is unusable`(body: String) async throws {
        try await with({ _ in .json(body) }, keys: [.sample()]) { client, _ in
            #expect(await exchange(client) == .failure(AppleCallError(.responseUnusable)))
        }
    }

    @Test func `the next key is tried when Apple refuses the token`() async throws {
        let keys = [try ClientSigningKey.sample(), try .sample("SECOND0000")]
        try await with({ $0 == 1 ? .json("{}", status: 401) : .json("BQYH") }, keys: keys) { client, server in
            #expect(await exchange(client) == .success(.refreshed([5, 6, 7])))
            #expect(server.requests.count == 2)
        }
        try await with({ _ in .json("{}", status: 401) }, keys: keys) { client, server in
            let refusal = AppleCallError(.rejected, appleError: .invalidClient)
            #expect(await exchange(client) == .failure(refusal))
            #expect(refusal.isOfConfiguration && server.requests.count == 2)
        }
        try await with({ _ in .nothing }, keys: []) { client, _ in
            #expect(await exchange(client) == .failure(AppleCallError(.noSigningKey)))
        }
    }

    @Test func `Apple has a host for each environment`() {
        let apple = AppleEndpoints.apple
        #expect(apple.attestationData == "https://data.appattest.apple.com/v1/attestationData")
        #expect(
            apple.developmentAttestationData
                == "https://data-development.appattest.apple.com/v1/attestationData")
    }
}
