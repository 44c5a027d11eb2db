import AppleEmulator
import EmulatorServer
import NIOHTTP1
import StrictJSON
import Testing

@Suite(.apple()) struct UserTests {
    let apple = EmulatorUnderTest.current

    @Test func `creates a user in Apple's format`() async throws {
        let response = try await apple.post(
            "/emulator/users",
            """
            {"email":"ada@example.com","hide_email":true,"first_name":"Ada","last_name":"",
            "real_user_status":1}
            """
        )
        #expect(response.status == 201)
        let user = try response.json
        let sub = try #require(user["sub"]?.string)
        let parts = sub.split(separator: ".")
        #expect(parts.map(\.utf8.count) == [6, 32, 4])
        #expect(parts[1].allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(parts[0].allSatisfy(\.isNumber) && parts[2].allSatisfy(\.isNumber))
        #expect(user["email"] == "ada@example.com")
        #expect(user["first_name"] == "Ada")
        #expect(user["last_name"] == nil)
        #expect(user["real_user_status"] == 1)
        var shown = try #require(try await apple.get("/emulator/users/\(sub)").json.object)
        shown["grants"] = nil
        #expect(.object(shown) == user)
        let claims = try await apple.mint(#"{"sub":"\#(sub)"}"#).claims
        let relay = try #require(user["identities"]?.array?[0]["relay_email"]?.string)
        #expect(relay.hasSuffix("@privaterelay.appleid.com"))
        #expect(claims["email"] == .string(relay))
        #expect(claims["is_private_email"] == true)
        #expect(claims["real_user_status"] == 1)
    }

    @Test func `leaves out absent values`() async throws {
        _ = try await apple.post("/emulator/users", #"{"sub":"bare","email":"","real_user_status":-1}"#)
        let claims = try await apple.mint(#"{"sub":"bare"}"#).claims
        #expect(claims["email"] == nil)
        #expect(claims["email_verified"] == nil)
        #expect(claims["real_user_status"] == nil)
    }

    @Test func `gives each user without an address a unique one`() async throws {
        var addresses: [String?] = []
        for members in [
            "{}", #"{"first_name":"Ada","last_name":"Lovelace"}"#, "{}",
            #"{"first_name":"ADA","last_name":"lovelace"}"#, #"{"first_name":"Žofie","last_name":""}"#,
            #"{"first_name":"","last_name":""}"#, #"{"first_name":"Mary Ann","last_name":"O'Neil"}"#,
            #"{"first_name":"Al","last_name":"\#(String(repeating: "x", count: 60))"}"#,
        ] { addresses.append(try await apple.post("/emulator/users", members).json["email"]?.string) }
        #expect(
            addresses == [
                "jane.appleseed.2@example.com", "ada.lovelace@example.com", "jane.appleseed.4@example.com",
                "ada.lovelace.5@example.com", "user.6@example.com", "user.7@example.com",
                "mary.ann.o.neil@example.com", "user.9@example.com",
            ])
        // A given address is used unchanged, and no later user gets it.
        let given = #"{"email":"Jane.Appleseed.11@example.com"}"#
        #expect(
            try await apple.post("/emulator/users", given).json["email"] == "Jane.Appleseed.11@example.com")
        #expect(try await apple.post("/emulator/users").json["email"] == "jane.appleseed.12@example.com")
        #expect(try await apple.mint().claims["email"] == "jane.appleseed@example.com")
    }

    @Test func `lists users in pages`() async throws {
        for name in ["a", "b", "c"] {
            _ = try await apple.post("/emulator/users", #"{"sub":"\#(name)"}"#)
        }
        let page = try await apple.get("/emulator/users?offset=1&limit=2").json
        #expect(page["users"]?.array?.compactMap { $0["sub"]?.string } == ["a", "b"])
        #expect(page["total"] == 4)
        #expect(try await apple.get("/emulator/users?format=text&offset=2").text == "b\nc")
    }

    @Test func `the default user is the same in the next run`() async throws {
        var subjects: Set<String> = []
        for _ in 0..<2 {
            try await EmulatorUnderTest.run { apple in
                subjects.insert(try await apple.get("/emulator/users/default?format=text").text)
            }
        }
        #expect(subjects.count == 1)
    }

    @Test(arguments: [
        ("/emulator/users", #"{"sub":"a/b"}"#, 400, "member_malformed"),
        ("/emulator/users", #"{"sub":""}"#, 400, "member_malformed"),
        ("/emulator/users", #"{"sub":"default"}"#, 409, "user_exists"),
        ("/emulator/users", #"{"real_user_status":3}"#, 400, "member_malformed"),
        ("/emulator/identity-tokens", #"{"sub":"nobody"}"#, 404, "user_not_found"),
        ("/emulator/users/nobody/revoke-consent", "{}", 404, "user_not_found"),
        ("/emulator/users/default/fly", "{}", 404, "path_not_found"),
    ])
    func `refuses invalid values`(path: String, body: String, status: Int, code: String) async throws {
        let response = try await apple.post(path, body)
        #expect(response.status == status)
        #expect(response.code == code)
        #expect(response.headers["content-type"] == ["application/problem+json"])
    }

    @Test func `stores at most ten thousand users`() async throws {
        let state = apple.emulator.state
        for _ in 1..<10_000 { _ = try state.makeUser(UserRecipe()) }
        #expect(Set(state.users.map(\.email)).count == 10_000)
        #expect(throws: EmulatorError(.tooManyUsers)) { try state.makeUser(UserRecipe()) }
        #expect(try await apple.post("/emulator/users").code == "too_many_users")
    }
}
