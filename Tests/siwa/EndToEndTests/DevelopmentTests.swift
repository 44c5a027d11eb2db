import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// `siwa dev` with the tools and the browser of a developer.
@Suite(.serialized) struct DevelopmentTests {
    @Test func `users sign in on the web with each Services ID, also after a reset of the fake Apple`()
        async throws
    {
        let clientIDs = ["com.example.app", "com.example.web", "com.example.shop"]
        let options = clientIDs.flatMap { ["--client-id", $0] } + ["--check-interval", "3600"]
        try await DevelopmentProcess.with(options) { system in
            for clientID in clientIDs.dropFirst() {
                try await Self.signIn(clientID, at: system)
                #expect(try await system.appleControl.post("/emulator/reset").status < 300)
            }
            // The service's key is registered, and the notification arrives.
            let subject = try await system.signIn(code: true).subject
            try await eventually {
                let account = try await system.backend.account(subject)
                return account["credentials"]?.array?.first?["refresh_token"] == "held"
            }
            try await system.revoke(subject)
            #expect(try await system.backend.credential(subject)["state"] == "revoked")
        }
    }

    @Test func `both servers refuse a foreign host name`() async throws {
        try await DevelopmentProcess.with(["--allowed-host", "dev.test"]) { system in
            for address in [system.apple, system.service] {
                for (host, status) in [
                    ("attacker.example", 421), ("dev.test", 200), ("localhost:1", 200),
                ] as [(String, UInt)] {
                    let path = address == system.apple ? "auth/keys" : "openapi.yaml"
                    let response = try await TestClient.send(
                        .GET, "\(address)/\(path)", headers: [("Host", host)])
                    #expect(response.status == status)
                }
            }
        }
    }

    #if os(Linux)
        /// A container has another address than 127.0.0.1, and compose opens its ports at this machine. Here 127.0.0.2
        /// stands for the container's.
        @Test func `with --host a container serves all four programs, and without it none is open to others`()
            async throws
        {
            for options in [[], ["--host", "0.0.0.0"]] {
                try await DevelopmentProcess.with(options) { system in
                    let pages = [
                        (system.port, "/", 200), (system.port, "/livez", 200),
                        (system.applePort, "/auth/keys", 200), (system.googlePort, "/", 200),
                        (system.receiverPort, "/", 200),
                    ]
                    for (port, path, status) in pages {
                        var request = HTTPClientRequest(url: "http://127.0.0.2:\(port)\(path)")
                        request.headers.add(name: "Host", value: "127.0.0.1:\(port)")
                        // A refused connection is repeated until then.
                        let response = try? await HTTPClient.shared.execute(
                            request, timeout: options.isEmpty ? .seconds(1) : .seconds(30))
                        #expect(
                            response.map { Int($0.status.code) } == (options.isEmpty ? nil : status),
                            "\(options) \(port)\(path)")
                    }
                }
            }
        }
    #endif

    /// Uses the pages like a browser, with `Origin`.
    private static func signIn(_ clientID: String, at system: DevelopmentProcess) async throws {
        try await Browser.with { browser in
            try await browser.open("\(system.service)/v1/web/sign-in?client_id=\(clientID)&state=s")
            try await browser.click("button[name=choose]")
            try await browser.click("button[name=allow]")
            try await eventually { try await browser.url().hasPrefix("\(system.apple)/site?") }
            let items = URLComponents(string: try await browser.url())?.queryItems ?? []
            let code = try #require(items.first { $0.name == "code" }?.value)
            let result = try await system.backend.post("/v1/web/results", [("code", .string(code))])
            #expect(result["credential"]?["state"] == "authorized")
        }
    }
}
