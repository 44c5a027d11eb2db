import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// `siwa dev` with the tools and the browser of a developer.
@Suite(.serialized) struct DevelopmentTests {
    @Test func `users sign in on the web with each Services ID, also after a reset of the fake Apple`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let clientIDs = ["com.example.app", "com.example.web", "com.example.shop"]
            try await DevelopmentProcess.with(
                clientIDs.flatMap { ["--client-id", $0] } + ["--check-interval", "3600"], in: directory
            ) { system in
                let backend = Backend(port: system.port, secret: DevelopmentSettings.secret)
                for clientID in clientIDs.dropFirst() {
                    try await Self.signIn(clientID, at: system, backend, in: directory)
                    try await Self.send(.POST, "\(system.apple)/emulator/reset")
                }
                // The service's key is registered, and the notification arrives.
                let subject = try await Self.send(.POST, "\(system.apple)/emulator/users?format=text")
                let form = try await Self.send(
                    .POST, "\(system.apple)/emulator/identity-tokens?format=sign-in",
                    #"{"sub":"\#(subject)","code":true}"#)
                let members = try JSONValue(parsing: Array(form.utf8)).object?.members ?? []
                let answer = try await backend.post("/v1/sign-ins", members.map { ($0.name, $0.value) })
                #expect(answer.status == 201)
                try await eventually {
                    let account = try await backend.account(subject)
                    return account["credentials"]?.array?.first?["refresh_token"]?.string == "held"
                }
                let told = try await Self.send(
                    .POST, "\(system.apple)/emulator/users/\(subject)/revoke-consent?format=text")
                #expect(told == "200")
                #expect(try await backend.credential(subject)["state"]?.string == "revoked")
            }
        }
    }

    @Test func `both servers refuse a foreign host name`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--allowed-host", "dev.test"], in: directory) { system in
                for address in [system.apple, system.service] {
                    for (host, status) in [
                        ("attacker.example", 421), ("dev.test", 200), ("localhost:1", 200),
                    ] {
                        var request = HTTPClientRequest(url: "\(address)/openapi.yaml")
                        if address == system.apple { request.url = "\(address)/auth/keys" }
                        request.headers.add(name: "Host", value: host)
                        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
                        #expect(Int(response.status.code) == status)
                    }
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
                try await TemporaryDirectory.with { directory in
                    try await DevelopmentProcess.with(options, in: directory) { system in
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
        }
    #endif

    /// Uses the pages like a browser, with `Origin`.
    private static func signIn(
        _ clientID: String, at system: DevelopmentProcess, _ backend: Backend,
        in directory: TemporaryDirectory
    ) async throws {
        try await Browser.with(in: directory) { browser in
            try await browser.open("\(system.service)/v1/web/sign-in?client_id=\(clientID)&state=s")
            try await browser.click("button[name=choose]")
            try await browser.click("button[name=allow]")
            try await eventually { try await browser.url().hasPrefix("\(system.apple)/site?") }
            let items = URLComponents(string: try await browser.url())?.queryItems ?? []
            let code = try #require(items.first { $0.name == "code" }?.value)
            let result = try await backend.post("/v1/web/results", [("code", .string(code))])
            #expect(result["credential"]?["state"]?.string == "authorized")
        }
    }

    @discardableResult
    private static func send(
        _ method: HTTPMethod, _ url: String, _ body: String = "{}"
    ) async throws -> String {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.body = .bytes(Array(body.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        #expect((200..<300).contains(Int(response.status.code)), "\(text)")
        return text.trimmingCharacters(in: .newlines)
    }
}

extension DevelopmentProcess {
    var service: String { "http://127.0.0.1:\(port)" }
    var apple: String { "http://127.0.0.1:\(applePort)" }
}
