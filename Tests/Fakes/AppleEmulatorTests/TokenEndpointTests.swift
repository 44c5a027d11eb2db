import AppleEmulator
import Cryptography
import Encodings
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

@Suite(.apple()) struct TokenEndpointTests {
    let apple = EmulatorUnderTest.current

    @Test func `exchanges a code for tokens that belong together`() async throws {
        let signIn = try await apple.post(
            "/emulator/identity-tokens", #"{"code":true,"nonce":"n-1","auth_time":1699999990}"#
        ).json
        let code = try #require(signIn["authorization_code"]?.string)
        apple.clock.advance(bySeconds: 20)
        let response = try await apple.exchange(code)
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == ["application/json;charset=UTF-8"])
        #expect(response.headers["cache-control"] == ["no-store"])
        let json = try response.json
        #expect(json["token_type"] == "Bearer")
        #expect(json["expires_in"] == 3600)
        #expect(json.object?.members.count == 5)
        let access = try #require(json["access_token"]?.string)
        #expect(json["refresh_token"]?.string?.hasPrefix("r") == true)
        let token = try ReadToken(try #require(json["id_token"]?.string))
        #expect(try await apple.isValid(token))
        #expect(token.claims["aud"] == "com.example.app")
        #expect(token.claims["sub"] == signIn["sub"])
        #expect(token.claims["nonce"] == "n-1")
        #expect(token.claims["iat"] == .integer(apple.clock.seconds))
        #expect(token.claims["auth_time"] == 1_699_999_990)
        #expect(token.claims["at_hash"] == .string(Base64URL.encode(SHA256Digest.hash(access).prefix(16))))
        #expect(token.claims["c_hash"] == nil)
        #expect(try await apple.counter("exchanges") == 1)
        #expect(try await apple.counter("token_requests") == 1)
    }

    @Test func `accepts a code once`() async throws {
        let code = try await apple.code()
        #expect(try await apple.exchange(code).status == 200)
        let again = try await apple.exchange(code)
        #expect(again.status == 400)
        #expect(again.error == "invalid_grant")
    }

    @Test func `of concurrent exchanges of one code, one succeeds`() async throws {
        let code = try await apple.code()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await apple.exchange(code).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(statuses.count { $0 == 400 } == 19)
        #expect(try await apple.counter("exchanges") == 1)
    }

    @Test func `of concurrent validations of one user, one succeeds`() async throws {
        let token = try await apple.refreshToken()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await apple.refresh(token).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(statuses.count { $0 == 429 } == 19)
    }

    @Test(arguments: [(300, 200), (301, 400)])
    func `accepts a code for five minutes`(seconds: Int64, status: Int) async throws {
        let code = try await apple.code()
        apple.clock.advance(bySeconds: seconds)
        let response = try await apple.exchange(code)
        #expect(response.status == status)
        #expect(response.error == (status == 200 ? nil : "invalid_grant"))
    }

    @Test func `accepts a code only from its own client, and keeps it valid for that client`() async throws {
        let code = try await apple.code()
        #expect(try await apple.exchange(code, ["client_id": "com.example.app.web"]).error == "invalid_grant")
        #expect(try await apple.exchange(code).status == 200)
    }

    @Test func `requires the redirect URI of the authorization request`() async throws {
        let web = #"{"code":true,"redirect_uri":"https://example.com/callback?a=b c"}"#
        let code = try await apple.code(web)
        #expect(try await apple.exchange(code).error == "invalid_grant")
        let wrong = ["redirect_uri": "https://example.com/callback"]
        #expect(try await apple.exchange(code, wrong).error == "invalid_grant")
        let right = ["redirect_uri": "https://example.com/callback?a=b c"]
        #expect(try await apple.exchange(code, right).status == 200)
        let native = try await apple.code()
        #expect(try await apple.exchange(native, right).error == "invalid_grant")
    }

    @Test func `stores no code for an unknown client ID`() async throws {
        let code = try await apple.code(#"{"code":true,"client_id":"com.other.app"}"#)
        #expect(try await apple.exchange(code).error == "invalid_grant")
        #expect(try await apple.exchange(code, ["client_id": "com.other.app"]).error == "invalid_client")
    }

    @Test func `validates once per day, user and client`() async throws {
        let token = try await apple.refreshToken()
        let response = try await apple.refresh(token)
        #expect(response.status == 200)
        let json = try response.json
        #expect(json["refresh_token"] == nil)
        #expect(json["token_type"] == "Bearer")
        let identity = try ReadToken(try #require(json["id_token"]?.string))
        #expect(try await apple.isValid(identity))
        #expect(identity.claims["sub"] == .string(apple.emulator.state.users[0].subject))

        // Another token of the same user is throttled too; another client ID is not.
        let second = try await apple.refreshToken()
        apple.clock.advance(bySeconds: 86_399)
        let early = try await apple.refresh(second)
        #expect(early.status == 429)
        #expect(early.error == "throttled")
        #expect(early.headers["retry-after"] == ["1"])
        let web = #"{"code":true,"client_id":"com.example.app.web"}"#
        let other = try await apple.refreshToken(web, clientID: "com.example.app.web")
        #expect(try await apple.refresh(other, ["client_id": "com.example.app.web"]).status == 200)
        apple.clock.advance(bySeconds: 1)
        #expect(try await apple.refresh(second).status == 200)

        #expect(try await apple.counter("refreshes") == 3)
        #expect(try await apple.counter("refreshes_throttled") == 1)
        let grants = try #require(try await apple.get("/emulator/users/default").json["grants"]?.array)
        #expect(grants[0]["client_id"] == "com.example.app")
        #expect(grants[0]["refresh_tokens"] == 2)
        #expect(grants[0]["exchanges"] == 2)
        #expect(grants[0]["refreshes"] == 2)
        #expect(grants[0]["throttled"] == 1)
        #expect(grants[1]["refreshes"] == 1)
        #expect(grants[1]["codes"] == 0)
    }

    @Test(.apple { $0.refreshInterval = 0 })
    func `the throttling can be changed or turned off`() async throws {
        let token = try await apple.refreshToken()
        for _ in 0..<3 { #expect(try await apple.refresh(token).status == 200) }
    }

    @Test(arguments: ["revoke-consent", "delete-account", "change-password"])
    func `ends codes and tokens after a change by the user`(change: String) async throws {
        let token = try await apple.refreshToken()
        let code = try await apple.code()
        _ = try await apple.post("/emulator/users/default/\(change)")
        #expect(try await apple.refresh(token).error == "invalid_grant")
        #expect(try await apple.exchange(code).error == "invalid_grant")
        let consents = try apple.emulator.state.user(nil).apps
        #expect(consents == (change == "change-password" ? ["com.example.app"] : []))
    }

    @Test func `does not change the tokens of another user`() async throws {
        _ = try await apple.post("/emulator/users", #"{"sub":"other"}"#)
        let token = try await apple.refreshToken(#"{"code":true,"sub":"other"}"#)
        _ = try await apple.refreshToken()
        for change in ["revoke-consent", "change-password", "delete-account"] {
            _ = try await apple.post("/emulator/users/default/\(change)")
        }
        #expect(try await apple.refresh(token).status == 200)
    }

    @Test func `binds a refresh token to its client`() async throws {
        let token = try await apple.refreshToken()
        #expect(try await apple.refresh(token, ["client_id": "com.example.app.web"]).error == "invalid_grant")
        #expect(try await apple.refresh(token).status == 200)
    }

    @Test(
        arguments: [
            (["grant_type": "password"], "unsupported_grant_type"), ([:], "invalid_request"),
            (["grant_type": "authorization_code"], "invalid_request"),
            (["grant_type": "refresh_token"], "invalid_request"),
            (["grant_type": "client_credentials"], "invalid_request"),
            (["grant_type": "client_credentials", "scope": "email"], "invalid_scope"),
            (["grant_type": "refresh_token", "refresh_token": "nonsense"], "invalid_grant"),
            (["grant_type": "authorization_code", "code": "x", "client_id": ""], "invalid_request"),
            (["grant_type": "authorization_code", "code": "x", "client_secret": ""], "invalid_request"),
        ] as [([String: String], String)])
    func `refuses with OAuth errors`(fields: [String: String], error: String) async throws {
        var fields = fields
        // A secret is required for every client ID.
        if fields["client_secret"] == nil { fields["client_secret"] = try apple.clientSecret() }
        let response = try await apple.call("/auth/token", fields)
        #expect(response.status == 400)
        #expect(response.error == error)
    }

    @Test(arguments: ["application/json", "text/plain", "", "multipart/form-data"])
    func `accepts only forms`(contentType: String) async throws {
        let body = #"{"grant_type":"authorization_code","client_id":"com.example.app"}"#
        let response = try await apple.send(
            .POST, "/auth/token", headers: ["Content-Type": contentType], body: body)
        #expect(response.status == 400)
        #expect(response.error == "invalid_client")
    }

    @Test(arguments: ["code=a&code=b", "code=%zz", "code=%ff", "code=%00", "code=%4"])
    func `refuses ambiguous forms`(body: String) async throws {
        let response = try await apple.send(
            .POST, "/auth/token",
            headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"], body: body)
        #expect(response.error == "invalid_request")
    }

    @Test func `refuses a form that is too large`() async throws {
        let long = String(repeating: "x", count: 70_000)
        #expect(try await apple.exchange(long).error == "invalid_request")
        let fields: [(String, String)] = (0..<100).map { ("f\($0)", "x") }
        #expect(try await apple.postForm("/auth/token", fields).error == "invalid_request")
    }

    @Test func `advances its clock`() async throws {
        let token = try await apple.refreshToken()
        #expect(try await apple.refresh(token).status == 200)
        #expect(try await apple.refresh(token).status == 429)
        let clock = try await apple.post("/emulator/clock", #"{"advance_seconds":86400}"#).json
        #expect(clock["now"] == .integer(apple.clock.seconds + 86_400))
        #expect(try await apple.refresh(token).status == 200)
        for seconds in [-1, 315_360_001] {
            let response = try await apple.post("/emulator/clock", #"{"advance_seconds":\#(seconds)}"#)
            #expect(response.code == "member_malformed")
        }
    }

    @Test func `dates its responses by its own clock`() async throws {
        for ahead in [Int64(0), 600] {
            try apple.emulator.state.advanceClock(bySeconds: ahead)
            let keys = try await apple.get("/auth/keys")
            let date = try #require(keys.headers.first(name: "Date").flatMap { HTTPDate.seconds($0) })
            #expect(date == apple.clock.seconds + ahead)
            #expect(keys.headers["Date"].count == 1)
        }
    }

    @Test func `fails when every key is retired, and keeps the code valid`() async throws {
        let code = try await apple.code()
        for keyID in TestKeys.keyIDs { try apple.emulator.state.retireKey(keyID) }
        #expect(try await apple.exchange(code).status == 500)
        _ = try await apple.emulator.state.addKey(keyID: nil, isPublished: true, signs: true)
        #expect(try await apple.exchange(code).status == 200)
    }
}
