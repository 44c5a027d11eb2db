import AppleEmulator
import StrictJSON
import Testing

@Suite struct RevokeEndpointTests {
    @Test func `ends the consent and all its tokens, with an empty response`() async throws {
        try await EmulatorUnderTest.run { apple in
            let first = try await apple.refreshToken()
            let web = #"{"code":true,"client_id":"com.example.app.web"}"#
            let second = try await apple.refreshToken(web, clientID: "com.example.app.web")
            let code = try await apple.code()
            let response = try await apple.revoke(first)
            #expect(response.status == 200)
            #expect(response.body.isEmpty)
            #expect(try await apple.refresh(first).error == "invalid_grant")
            let other = try await apple.refresh(second, ["client_id": "com.example.app.web"])
            #expect(other.error == "invalid_grant")
            #expect(try await apple.exchange(code).error == "invalid_grant")
            #expect(try apple.emulator.state.user(nil).apps.isEmpty)
            #expect(try await apple.counter("revocations") == 1)
            // The next sign-in is a first one again.
            #expect(try await apple.post("/emulator/identity-tokens").json["user"] != nil)
        }
    }

    @Test func `accepts an access token too, with any hint`() async throws {
        try await EmulatorUnderTest.run { apple in
            let tokens = try await apple.exchange(apple.code()).json
            let access = tokens["access_token"]?.string ?? ""
            let fields = ["token": access, "token_type_hint": "refresh_token"]
            #expect(try await apple.call("/auth/revoke", fields).status == 200)
            #expect(try await apple.refresh(tokens["refresh_token"]?.string ?? "").error == "invalid_grant")
        }
    }

    @Test func `an unknown token and a token of another client get the same response and change nothing`()
        async throws
    {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.refreshToken()
            for response in [
                try await apple.revoke("nonsense"),
                try await apple.revoke(token, clientID: "com.example.app.web"),
            ] {
                #expect(response.status == 200)
                #expect(response.body.isEmpty)
            }
            #expect(try await apple.refresh(token).status == 200)
            #expect(try await apple.counter("revocations") == 0)
            #expect(try await apple.counter("revoke_requests") == 2)
        }
    }

    @Test func `revokes twice with the same response`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.refreshToken()
            for _ in 0..<2 { #expect(try await apple.revoke(token).status == 200) }
            #expect(try await apple.counter("revocations") == 1)
        }
    }

    @Test func `authenticates the client`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.refreshToken()
            let response = try await apple.call("/auth/revoke", ["token": token, "client_secret": "x"])
            #expect(response.status == 400)
            #expect(response.error == "invalid_client")
            #expect(try await apple.call("/auth/revoke", [:]).error == "invalid_request")
            #expect(try await apple.refresh(token).status == 200)
        }
    }
}
