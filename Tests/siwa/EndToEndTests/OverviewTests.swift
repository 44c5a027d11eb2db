import AsyncHTTPClient
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// The first page of the console of `siwa dev`, while things go wrong. Each cause has its sentence within
/// seconds; two minutes are what an operator has.
@Suite(.serialized) struct OverviewTests {
    @Test func `a revoked person, a client that hammers and a locked database are named`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let file = "\(directory.path)/dev.sqlite"
            try await DevelopmentProcess.with(["--database", "sqlite://\(file)"], in: directory) { system in
                let backend = Backend(port: system.port, secret: DevelopmentSettings.secret)
                try await Self.names("keys_unreachable", system, isWrong: false)
                let first = try await Self.page(system)
                #expect(first.contains("Nothing is wrong."))
                #expect(first.contains("<svg class=\"plot\"") && first.contains("accepts commands"))
                #expect(!first.contains("data-trouble"))

                try await Self.personStops(at: system, backend)
                try await Self.names("people_revoked", system)
                let noted = try await Self.page(system)
                #expect(noted.contains("One person stopped using an app"))
                #expect(noted.contains("Nothing is wrong."))
                let day = try await Self.page(system, "?period=day")
                #expect(day.contains("By hour over the last day: Sign-ins 1."))

                for _ in 0..<110 { _ = try await backend.signIn("nonsense") }
                try await Self.names("client_hammering", system)

                let transaction = try ForeignTransaction(on: file)
                try await Self.names("database_locked", system)
                transaction.end()
            }
        }
    }

    /// Waits for at most two minutes until the page has or has not this trouble.
    private static func names(
        _ trouble: String, _ system: DevelopmentProcess, isWrong: Bool = true
    ) async throws {
        try await eventually(within: .seconds(120)) {
            try await page(system).contains("data-trouble=\"\(trouble)\"") == isWrong
        }
    }

    private static func page(_ system: DevelopmentProcess, _ query: String = "") async throws -> String {
        // The page changes every five seconds.
        try await Task.sleep(for: .milliseconds(200))
        let request = HTTPClientRequest(url: "\(system.service)/console/overview\(query)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 4 << 20))
        #expect(response.status == .ok, "\(text)")
        return text
    }

    /// A person signs in, and then stops using the app at Apple.
    private static func personStops(at system: DevelopmentProcess, _ backend: Backend) async throws {
        let subject = try await send("\(system.apple)/emulator/users?format=text")
        let form = try await send(
            "\(system.apple)/emulator/identity-tokens?format=sign-in", #"{"sub":"\#(subject)","code":true}"#)
        let members = try JSONValue(parsing: Array(form.utf8)).object?.members ?? []
        let answer = try await backend.post("/v1/sign-ins", members.map { ($0.name, $0.value) })
        #expect(answer.status == 201)
        _ = try await send("\(system.apple)/emulator/users/\(subject)/revoke-consent?format=text")
    }

    private static func send(_ url: String, _ body: String = "{}") async throws -> String {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(Array(body.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        #expect((200..<300).contains(Int(response.status.code)), "\(text)")
        return text.trimmingCharacters(in: .newlines)
    }
}
