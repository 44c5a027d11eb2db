import AppleEmulator
import EmulatorServer
import NIOHTTP1
import Testing

/// A web page in a developer's browser cannot use an emulator on the same machine.
@Suite struct ForeignPageTests {
    @Test(arguments: [
        (HTTPMethod.GET, "/"), (.GET, "/auth/keys"), (.GET, "/emulator/users"), (.GET, "/nothing"),
        (.POST, "/emulator/users"), (.POST, "/accounts"), (.POST, "/auth/token"),
        (.DELETE, "/emulator/notification-url"),
    ])
    func `refuses a request with a foreign host name`(method: HTTPMethod, path: String) async throws {
        try await EmulatorUnderTest.run { apple in
            for host in ["attacker.example:\(apple.port)", "localhost.attacker.example", "192.0.2.1"] {
                let response = try await apple.send(method, path, headers: ["Host": host])
                #expect(response.status == 421)
                #expect(response.code == "host_refused")
            }
            #expect(apple.emulator.state.counters == EmulatorCounters())
            #expect(apple.emulator.state.users.count == 1)
        }
    }

    @Test(arguments: [
        "localhost:8081", "127.0.0.9", "[::1]", "appleid.apple.com", "Apple.Test", "192.0.2.7:1",
    ])
    func `accepts loopback names, Apple's names, its own address and configured names`(host: String)
        async throws
    {
        try await EmulatorUnderTest.run {
            $0.hostNames = ["apple.test", "192.0.2.7"]
        } _: { apple in
            let response = try await apple.send(.GET, "/auth/keys", headers: ["Host": host])
            #expect(response.status == 200)
        }
    }

    @Test(arguments: ["https://attacker.example", "null", "http://127.0.0.1:3000"])
    func `refuses any form from a page of another site`(origin: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try #require(try await apple.get("/").field("token"))
            let subject = apple.emulator.state.users[0].subject
            for path in ["/accounts", "/auth/authorize", "/auth/token", "/auth/revoke"] {
                let response = try await apple.postForm(
                    path, [("token", token), ("sub", subject), ("action", "delete-account")],
                    headers: ["Origin": origin], followsRedirects: false)
                #expect(response.status == 403)
                #expect(response.code == "origin_refused")
            }
            #expect(try apple.emulator.state.user(nil).isDeleted == false)
        }
    }

    @Test func `accepts the forms of its own pages`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try #require(try await apple.get("/").field("token"))
            let subject = apple.emulator.state.users[0].subject
            let response = try await apple.postForm(
                "/accounts", [("token", token), ("sub", subject), ("action", "delete-account")],
                headers: ["Origin": "http://127.0.0.1:\(apple.port)"], followsRedirects: false)
            #expect(response.status == 303)
            #expect(try apple.emulator.state.user(nil).isDeleted)
        }
    }

    @Test(arguments: ["apple.test:8081", "http://apple.test", "*", ""])
    func `refuses an allowed host that is not a host name`(name: String) async throws {
        var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
        configuration.hostNames = [name]
        await #expect(throws: EmulatorError(.configurationInvalid)) {
            try await EmulatedApple(configuration: configuration, clock: .system)
        }
    }
}
