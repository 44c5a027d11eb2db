import AppleEmulator
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

@Suite struct KeyRotationTests {
    @Test func `adds a key that is published and signs`() async throws {
        try await EmulatorUnderTest.run { apple in
            let response = try await apple.post("/emulator/keys", #"{"kid":"newcomer"}"#)
            #expect(response.status == 201)
            #expect(try response.json["kid"] == .string("newcomer"))
            #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs + ["newcomer"]))
            #expect(try await apple.isValid(try await apple.mint(#"{"kid":"newcomer"}"#)))
        }
    }

    @Test func `adds a key that signs before it is published`() async throws {
        try await EmulatorUnderTest.run { apple in
            _ = try await apple.post("/emulator/keys", #"{"kid":"early","published":false}"#)
            #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs))
            for keyID in TestKeys.keyIDs { _ = try await apple.send(.DELETE, "/emulator/keys/\(keyID)") }
            #expect(try await apple.mint().header["kid"] == .string("early"))
        }
    }

    @Test func `a retired key is not published, and signs only on request`() async throws {
        try await EmulatorUnderTest.run { apple in
            let retired = TestKeys.keyIDs[0]
            #expect(try await apple.send(.DELETE, "/emulator/keys/\(retired)").status == 200)
            #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs.dropFirst()))
            for _ in 0..<30 {
                #expect(try apple.emulator.state.mint(IdentityTokenRecipe()).keyID != retired)
            }
            let token = try await apple.mint(#"{"kid":"\#(retired)"}"#)
            let key = try await TestKeys.keys()[0].privateKey.publicJWK(keyID: retired)
            #expect(token.header["kid"] == .string(retired))
            #expect(try token.isSigned(by: .object(key)))
        }
    }

    @Test func `replaces all keys by as many new ones`() async throws {
        try await EmulatorUnderTest.run { apple in
            let before = try await apple.mint()
            let response = try await apple.post("/emulator/keys/rotate?format=text")
            let published = try await apple.publishedKeyIDs()
            #expect(published.count == 3)
            #expect(Set(published).isDisjoint(with: TestKeys.keyIDs))
            #expect(Set(response.text.split(separator: "\n").map(String.init)) == Set(published))
            #expect(try await apple.isValid(before) == false)
            #expect(try await apple.isValid(try await apple.mint()))
            _ = try await apple.post("/emulator/reset")
            #expect(try await apple.isValid(before))
        }
    }

    @Test func `publishes a key, lets it sign, and retires the oldest, as Apple does`() async throws {
        try await EmulatorUnderTest.run { apple in
            for round in 0..<2 {
                let before = try await apple.keyUses()
                let oldest = try #require(before.first { $0.published }?.keyID)
                let first = try await apple.post("/emulator/keys/rotate", #"{"mode":"apple"}"#)
                let keyID = try #require(try first.json["kid"]?.string)
                #expect(try first.json["step"] == .string("publish"))
                #expect(try await apple.publishedKeyIDs().contains(keyID))
                // Clients have time to fetch it: nothing is signed with it yet.
                #expect(try await apple.signers().contains(keyID) == false)

                let second = try await apple.post("/emulator/keys/rotate?format=text", #"{"mode":"apple"}"#)
                #expect(second.text == "sign \(keyID)")
                #expect(try await apple.signers() == Set(before.filter(\.signs).map(\.keyID) + [keyID]))
                #expect(try await apple.isValid(apple.mint(#"{"kid":"\#(keyID)"}"#)))

                let third = try await apple.post("/emulator/keys/rotate", #"{"mode":"apple"}"#)
                #expect(try third.json["step"] == .string("retire"))
                #expect(try third.json["kid"] == .string(oldest))
                #expect(try await Set(apple.publishedKeyIDs()).count == 3)
                #expect(try await !apple.publishedKeyIDs().contains(oldest))
                #expect(try await apple.signers().contains(oldest) == false)
                #expect(try third.json["keys"]?.array?.count == 4 + round)
            }
        }
    }

    @Test func `changes what a key is used for`() async throws {
        try await EmulatorUnderTest.run { apple in
            _ = try await apple.post("/emulator/keys", #"{"kid":"next","signs":false}"#)
            #expect(try await apple.signers().contains("next") == false)
            let path = "/emulator/keys/next"
            #expect(try await apple.send(.PUT, path, body: #"{"signs":true}"#).status == 200)
            #expect(try await apple.signers().contains("next"))
            _ = try await apple.send(.PUT, path, body: #"{"published":false}"#)
            #expect(try await apple.signers().contains("next"))
            #expect(try await apple.publishedKeyIDs().contains("next") == false)
            #expect(try await apple.send(.PUT, "/emulator/keys/nobody", body: "{}").code == "key_not_found")
            let unknown = try await apple.post("/emulator/keys/rotate", #"{"mode":"slowly"}"#)
            #expect(unknown.code == "member_malformed")
        }
    }

    @Test func `shows what each key is used for`() async throws {
        try await EmulatorUnderTest.run { apple in
            let keys = try await apple.send(.DELETE, "/emulator/keys/\(TestKeys.keyIDs[1])").json["keys"]?
                .array
            #expect(keys?.map { $0["published"] } == [.bool(true), .bool(false), .bool(true)])
            #expect(keys?.map { $0["signs"] } == [.bool(true), .bool(false), .bool(true)])
        }
    }

    @Test func `refuses to sign without a key`() async throws {
        try await EmulatorUnderTest.run { apple in
            for keyID in TestKeys.keyIDs { _ = try await apple.send(.DELETE, "/emulator/keys/\(keyID)") }
            let response = try await apple.post("/emulator/identity-tokens")
            #expect(response.status == 409)
            #expect(response.code == "no_signing_key")
            #expect(try await apple.publishedKeyIDs().isEmpty)
        }
    }

    @Test func `refuses keys that exist, and to retire one that does not`() async throws {
        try await EmulatorUnderTest.run { apple in
            let taken = try await apple.post("/emulator/keys", #"{"kid":"\#(TestKeys.keyIDs[0])"}"#)
            #expect(taken.code == "key_exists")
            #expect(try await apple.send(.DELETE, "/emulator/keys/nobody").code == "key_not_found")
        }
    }
}

extension EmulatorUnderTest {
    fileprivate func keyUses() async throws -> [(keyID: String, published: Bool, signs: Bool)] {
        emulator.state.keys.map { ($0.key.keyID, $0.isPublished, $0.signs) }
    }

    /// The key IDs of enough tokens to include every signing key.
    fileprivate func signers() async throws -> Set<String> {
        Set(try (0..<60).map { _ in try emulator.state.mint(IdentityTokenRecipe()).keyID })
    }
}
