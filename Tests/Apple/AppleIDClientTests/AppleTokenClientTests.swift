import AppleIDClient
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

    @Test(arguments: Call.allCases)
    func `without a key nothing is sent`(call: Call) async throws {
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
