import AppleEmulator
import Encodings
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

@Suite struct KeySetTests {
    @Test func `serves the keys with exactly Apple's members`() async throws {
        try await EmulatorUnderTest.run { apple in
            let response = try await apple.get("/auth/keys")
            #expect(response.status == 200)
            #expect(response.headers["content-type"] == ["application/json;charset=UTF-8"])
            let keys = try #require(try response.json["keys"]?.array)
            #expect(try response.json.object?.members.map(\.name) == ["keys"])
            #expect(Set(keys.compactMap { $0["kid"]?.string }) == Set(TestKeys.keyIDs))
            for key in keys {
                #expect(key.object?.members.map(\.name) == ["kty", "kid", "use", "alg", "n", "e"])
                #expect(key["kty"] == .string("RSA"))
                #expect(key["use"] == .string("sig"))
                #expect(key["alg"] == .string("RS256"))
                #expect(key["e"] == .string("AQAB"))
                #expect(Base64URL.decode(key["n"]?.string ?? "")?.count == 256)
            }
        }
    }

    @Test func `shuffles the keys from call to call`() async throws {
        try await EmulatorUnderTest.run { apple in
            var orders: Set<[String]> = []
            for _ in 0..<40 { orders.insert(try await apple.publishedKeyIDs()) }
            #expect(orders.count > 1)
        }
    }

    @Test func `makes keys with opaque IDs when none are given`() async throws {
        try await EmulatorUnderTest.run { configuration in
            configuration.keys = []
            configuration.keyCount = 2
        } _: { apple in
            let keyIDs = try await apple.publishedKeyIDs()
            #expect(Set(keyIDs).count == 2)
            #expect(keyIDs.allSatisfy { (6...10).contains($0.utf8.count) })
        }
    }

    @Test func `answers 304 to its own entity tag, whatever the order`() async throws {
        try await EmulatorUnderTest.run { apple in
            let tag = try #require(try await apple.get("/auth/keys").headers["etag"].first)
            for header in [tag, "\"other\", \(tag)", "*", String(tag.dropFirst(2))] {
                let response = try await apple.get("/auth/keys", headers: ["If-None-Match": header])
                #expect(response.status == 304)
                #expect(response.body.isEmpty)
                #expect(response.headers["etag"] == [tag])
            }
            #expect(try await apple.get("/auth/keys", headers: ["If-None-Match": "\"other\""]).status == 200)
            #expect(try await apple.counter("key_set_not_modified") == 4)
        }
    }

    @Test func `changes the entity tag with the keys`() async throws {
        try await EmulatorUnderTest.run { apple in
            let before = try await apple.get("/auth/keys").headers["etag"]
            #expect(try await apple.send(.DELETE, "/emulator/keys/\(TestKeys.keyIDs[0])").status == 200)
            let tag = try #require(before.first)
            let after = try await apple.get("/auth/keys", headers: ["If-None-Match": tag])
            #expect(after.status == 200)
            #expect(after.headers["etag"] != before)
        }
    }

    @Test(arguments: [nil, "max-age=60", "no-store, no-cache"])
    func `sends the configured Cache-Control`(cacheControl: String?) async throws {
        try await EmulatorUnderTest.run {
            $0.cacheControl = cacheControl
        } _: { apple in
            let response = try await apple.get("/auth/keys")
            #expect(response.headers["cache-control"].first == cacheControl)
        }
    }

    @Test func `sends no entity tag when told not to`() async throws {
        try await EmulatorUnderTest.run {
            $0.sendsEntityTag = false
        } _: { apple in
            let response = try await apple.get("/auth/keys", headers: ["If-None-Match": "*"])
            #expect(response.status == 200)
            #expect(response.headers["etag"].isEmpty)
        }
    }

    @Test func `counts every request for the keys`() async throws {
        try await EmulatorUnderTest.run { apple in
            for _ in 0..<3 { _ = try await apple.get("/auth/keys") }
            #expect(try await apple.counter("key_set_requests") == 3)
            #expect(apple.emulator.state.counters.keySetRequests == 3)
            let text = try await apple.get("/emulator/counters?format=text").text
            #expect(text.split(separator: "\n").contains("key_set_requests 3"))
            #expect(try await apple.send(.DELETE, "/emulator/counters").status == 200)
            #expect(try await apple.counter("key_set_requests") == 0)
        }
    }
}
