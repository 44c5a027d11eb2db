import AppleEmulator
import NIOHTTP1
import StrictJSON
import Testing

private let migrationRecipient = "TEAM000002"

@Suite(
    .apple({ $0.clientKeys.append(try ClientKey.generate(teamID: migrationRecipient)) }) {
        // The default user has signed in once.
        _ = try await $0.mint()
    })
struct MigrationEndpointTests {
    let apple = EmulatorUnderTest.current

    private func secret(_ apple: EmulatorUnderTest, of team: String) throws -> String {
        var recipe = ClientSecretRecipe()
        recipe.teamID = team
        return try apple.clientSecret(recipe)
    }

    private func bearer(_ apple: EmulatorUnderTest, of team: String) async throws -> String {
        let fields = [
            "grant_type": "client_credentials", "scope": "user.migration",
            "client_secret": try secret(apple, of: team),
        ]
        let response = try await apple.call("/auth/token", fields)
        #expect(response.status == 200)
        #expect(try response.json["token_type"] == "Bearer")
        #expect(try response.json["expires_in"] == 3600)
        #expect(try response.json.object?.members.count == 3)
        return try #require(response.json["access_token"]?.string)
    }

    /// Sends a request as `team`.
    private func ask(
        _ apple: EmulatorUnderTest, as team: String, _ fields: [String: String]
    ) async throws -> ReceivedResponse {
        var fields = fields
        fields["client_secret"] = try secret(apple, of: team)
        let bearer = try await bearer(apple, of: team)
        return try await apple.call(
            "/auth/usermigrationinfo", fields, headers: ["Authorization": "Bearer \(bearer)"])
    }

    private func transfer(_ apple: EmulatorUnderTest) async throws {
        let response = try await apple.post("/emulator/transfers", #"{"team_id":"\#(migrationRecipient)"}"#)
        #expect(response.status == 200)
    }

    @Test func `migrates a user, before and after the transfer`() async throws {
        let sender = EmulatorUnderTest.teamID
        let subject = apple.emulator.state.users[0].subject
        let fields = ["sub": subject, "target": migrationRecipient]
        let before = try await ask(apple, as: sender, fields).json["transfer_sub"]?.string
        let transferSubject = try #require(before)
        #expect(transferSubject.prefixMatch(of: /[0-9]{6}\.r[0-9a-f]{32}$/) != nil)
        #expect(transferSubject.prefix(6) == subject.prefix(6))
        try await transfer(apple)
        #expect(try await ask(apple, as: sender, fields).json["transfer_sub"]?.string == transferSubject)
        let response = try await ask(apple, as: migrationRecipient, ["transfer_sub": transferSubject])
        let claims = try await apple.mint().claims
        #expect(try response.json["sub"] == claims["sub"])
        #expect(try response.json["email"] == "jane.appleseed@example.com")
        #expect(try response.json["is_private_email"] == nil)
        #expect(claims["transfer_sub"] == .string(transferSubject))
        // At the same position as in real tokens.
        let names = try #require(claims.object).members.map(\.name)
        #expect(names.suffix(4) == ["auth_time", "transfer_sub", "nonce_supported", "real_user_status"])
        #expect(claims["sub"] != .string(subject))
        #expect(try await apple.counter("migration_requests") == 3)
    }

    @Test func `gives a user who hides the address a new relay address`() async throws {
        let old = try await apple.post("/emulator/users", #"{"hide_email":true,"sub":"hider"}"#).json
        let fields = ["sub": "hider", "target": migrationRecipient]
        let transferSubject = try await ask(apple, as: EmulatorUnderTest.teamID, fields).json["transfer_sub"]
        try await transfer(apple)
        let new = try await ask(
            apple, as: migrationRecipient, ["transfer_sub": transferSubject?.string ?? ""]
        )
        .json
        #expect(new["is_private_email"] == true)
        #expect(new["email"]?.string?.hasSuffix("@privaterelay.appleid.com") == true)
        #expect(new["email"] != old["identities"]?.array?[0]["relay_email"])
    }

    @Test func `ends the sender's codes and tokens, but no consent`() async throws {
        let token = try await apple.refreshToken()
        let code = try await apple.code()
        try await transfer(apple)
        #expect(try await apple.refresh(token).error == "invalid_grant")
        #expect(try await apple.exchange(code).error == "invalid_grant")
        // This is not a first authorization, so the name is not sent again.
        #expect(try await apple.post("/emulator/identity-tokens").json["user"] == nil)
        let new = try await apple.refreshToken()
        #expect(try await apple.refresh(new).status == 200)
        // The former team may only migrate users.
        let former = ["client_secret": try secret(apple, of: EmulatorUnderTest.teamID)]
        #expect(try await apple.refresh(new, former).error == "invalid_client")
    }

    @Test func `stays open for sixty days`() async throws {
        let fields = ["sub": apple.emulator.state.users[0].subject, "target": migrationRecipient]
        let response = try await ask(apple, as: EmulatorUnderTest.teamID, fields)
        let transferSubject = try #require(response.json["transfer_sub"]?.string)
        try await transfer(apple)
        apple.clock.advance(bySeconds: 60 * 86_400)
        #expect(try await ask(apple, as: EmulatorUnderTest.teamID, fields).status == 200)
        let arriving = ["transfer_sub": transferSubject]
        #expect(try await ask(apple, as: migrationRecipient, arriving).status == 200)
        #expect(try await apple.mint().claims["transfer_sub"] != nil)
        apple.clock.advance(bySeconds: 1)
        #expect(try await ask(apple, as: migrationRecipient, arriving).error == "invalid_request")
        #expect(try await apple.mint().claims["transfer_sub"] == nil)
        let former = ["client_secret": try secret(apple, of: EmulatorUnderTest.teamID)]
        #expect(try await apple.call("/auth/usermigrationinfo", former).error == "invalid_client")
    }

    @Test func `can fail for single users`() async throws {
        let fields = ["sub": apple.emulator.state.users[0].subject, "target": migrationRecipient]
        for (fails, status) in [(true, 400), (false, 200)] {
            let path = "/emulator/users/default/migration"
            #expect(try await apple.send(.PUT, path, body: #"{"fails":\#(fails)}"#).status == 200)
            let response = try await ask(apple, as: EmulatorUnderTest.teamID, fields)
            #expect(response.status == status)
            #expect(response.error == (fails ? "invalid_request" : nil))
        }
    }

    @Test func `refuses other teams and users`() async throws {
        let sender = EmulatorUnderTest.teamID
        let subject = apple.emulator.state.users[0].subject
        for fields in [
            ["sub": "nobody", "target": migrationRecipient], ["sub": subject, "target": sender],
            ["sub": subject],
            ["target": migrationRecipient], ["transfer_sub": "nobody"],
        ] { #expect(try await ask(apple, as: sender, fields).error == "invalid_request") }
        // Not before the transfer, which makes the client ID the recipient's.
        let early = ["client_secret": try secret(apple, of: migrationRecipient), "transfer_sub": "x"]
        #expect(try await apple.call("/auth/usermigrationinfo", early).error == "invalid_client")
        // After the transfer, no third team is accepted.
        try await transfer(apple)
        let third = ["sub": subject, "target": "TEAM000003"]
        #expect(try await ask(apple, as: sender, third).error == "invalid_request")
        #expect(
            try await ask(apple, as: migrationRecipient, ["transfer_sub": "x"]).error == "invalid_request")
    }

    @Test func `requires a valid access token of the same team`() async throws {
        let fields = ["sub": apple.emulator.state.users[0].subject, "target": migrationRecipient]
        let path = "/auth/usermigrationinfo"
        #expect(try await apple.call(path, fields).error == "invalid_request")
        let wrong = try await apple.call(path, fields, headers: ["Authorization": "Bearer x"])
        #expect(wrong.error == "invalid_grant")
        let bearer = "Bearer \(try await bearer(apple, of: EmulatorUnderTest.teamID))"
        apple.clock.advance(bySeconds: 3600)
        #expect(try await apple.call(path, fields, headers: ["Authorization": bearer]).status == 200)
        apple.clock.advance(bySeconds: 1)
        let late = try await apple.call(path, fields, headers: ["Authorization": bearer])
        #expect(late.error == "invalid_grant")
    }

    @Test(
        .apple(),
        arguments: [
            (#"{"team_id":"TEAM000001"}"#, 400, "member_malformed"), ("{}", 400, "member_malformed"),
            (#"{"team_id":"a b"}"#, 400, "member_malformed"),
            (#"{"team_id":"TEAM000002","client_id":"com.other.app"}"#, 404, "client_id_unknown"),
        ])
    func `refuses an invalid transfer`(body: String, status: Int, code: String) async throws {
        let response = try await apple.post("/emulator/transfers", body)
        #expect(response.status == status)
        #expect(response.code == code)
        #expect(apple.emulator.state.transfers.isEmpty)
    }

    @Test func `notifies the new team with its own sub of the user`() async throws {
        try await transfer(apple)
        let subject = try await apple.mint().claims["sub"]
        let response = try await apple.post(
            "/emulator/users/default/revoke-consent", #"{"events_form":"object"}"#
        ).json
        let payload = response["notifications"]?.array?[0]["payload"]?.string ?? ""
        #expect(try ReadToken(payload).claims["events"]?["sub"] == subject)
        #expect(response["user"]?["apps"] == .array([]))
    }
}
