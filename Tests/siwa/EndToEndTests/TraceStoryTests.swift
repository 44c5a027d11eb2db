import AppleEmulator
import Foundation
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

/// The spans of the built program at a collector on a real socket, as OpenTelemetry's own messages read them.
@Suite struct TraceStoryTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private struct Span: Hashable {
        let service: String
        let trace: String
        let id: String
        let parent: String
        let name: String
    }

    /// The spans of all documents, read by OpenTelemetry's messages for Python.
    private static func read(_ requests: [String], in directory: TemporaryDirectory) async throws -> [Span] {
        var paths: [String] = []
        for (index, request) in requests.enumerated() {
            let body = try #require(request.firstRange(of: "\r\n\r\n")).upperBound
            paths.append(try directory.write(String(request[body...]), to: "spans-\(index).json"))
        }
        let script = PythonTools.root.appendingPathComponent("Tests/siwa/EndToEndTests/Clients/read_spans.py")
        let run = try await PythonTools.run("python", [script.path] + paths, in: directory)
        #expect(run.status == 0, "\(run.output)")
        return run.output.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "|").map(String.init)
            guard parts.count == 6 else { return nil }
            return Span(service: parts[0], trace: parts[1], id: parts[2], parent: parts[3], name: parts[4])
        }
    }

    @Test func `a sign-in is followed from its caller to the commit, and Apple is told nothing of it`()
        async throws
    {
        let collector = try await ScriptedServer(always: .json("{}"))
        try await LinkedSystem.with(.sqlite, hasClients: false) { system in
            let key = try ClientKey.generate(teamID: Relation.team)
            try system.apple.state.configureClientKey(key)
            let service = try await system.serve(
                0,
                [
                    "SIWA_TRACES_URL": collector.baseURL, "SIWA_TRACES_RATIO": "1",
                    "SIWA_TRACES_SERVICE": "story", "APPLE_KEY_ID": key.keyID,
                    "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "", "SIWA_LOG_FORMAT": "json",
                ])
            var recipe = IdentityTokenRecipe()
            recipe.subject = try system.makeUser().subject
            recipe.authorizationCode = .made
            let minted = try system.apple.state.mint(recipe)
            let body = JSONValue.object(
                JSONObject([
                    ("identity_token", .string(minted.identityToken)),
                    ("authorization_code", .string(minted.authorizationCode ?? "")),
                ]))
            let response = try await service.send(
                .POST, "/v1/sign-ins",
                headers: [
                    ("authorization", "Bearer \(LinkedSystem.secret)"), ("content-type", "application/json"),
                    ("traceparent", "00-\(Self.trace)-00f067aa0ba902b7-01"), ("x-request-id", "story"),
                ], body: body.serialized())
            #expect(response.status == 201, "\(response.text)")
            try await eventually {
                collector.requests.contains { $0.contains(#""name":"call Apple""#) }
                    && collector.requests.contains { $0.contains(Self.trace) }
            }
            let metrics = try await service.backend.get("/metrics").text
            #expect(metrics.contains(#"siwa_trace_spans_total{result="exported"}"#))
            #expect(await service.service.stop() == 0)

            let spans = try await Self.read(collector.requests, in: system.directory)
            #expect(spans.allSatisfy { $0.service == "story" })
            #expect(Set(spans.map(\.id)).count == spans.count)
            #expect(Set(spans.map(\.name)).isSuperset(of: ["fetch keys", "call Apple", "GET /readyz"]))
            let own = spans.filter { $0.trace == Self.trace }
            #expect(Set(own.map(\.name)) == ["POST /v1/sign-ins", "verify", "commit accounts"])
            let request = try #require(own.first { $0.name == "POST /v1/sign-ins" })
            #expect(request.parent == "00f067aa0ba902b7")
            for span in own where span != request { #expect(span.parent == request.id) }

            // No claim, token, code or address is in a span.
            let exported = collector.requests.joined()
            for secret in [
                minted.identityToken, minted.authorizationCode ?? "-", minted.subject, "privaterelay",
                LinkedSystem.secret,
            ] {
                #expect(!exported.contains(secret))
            }
            for line in service.service.logText.split(separator: "\n") {
                let json = try JSONValue(parsing: Array(line.utf8))
                guard json["request_id"]?.string == "story" else { continue }
                #expect(json["trace_id"]?.string == Self.trace)
            }
        }
        try await collector.close()
    }

    @Test(arguments: [
        ScriptedServer.Response.nothing, .json("no", status: 500), .reset,
        .sendForever(
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            chunk: String(repeating: "x", count: 65_536), pause: .milliseconds(5)),
    ])
    func `a collector that fails changes nothing for callers, and does not hold up the end`(
        response: ScriptedServer.Response
    ) async throws {
        let collector = try await ScriptedServer(always: response)
        try await LinkedSystem.with(.sqlite, hasClients: false) { system in
            let service = try await system.serve(
                0, ["SIWA_TRACES_URL": collector.baseURL, "SIWA_TRACES_RATIO": "1"])
            try await eventually { !collector.requests.isEmpty }
            // More than the queue holds.
            for _ in 0..<2500 {
                #expect(try await service.backend.get("/v1/events").status == 200)
            }
            let clock = ContinuousClock()
            let start = clock.now
            #expect(await service.service.stop() == 0)
            // Two seconds for the collector, and the rest for a slow machine.
            #expect(clock.now - start < .seconds(20))
            #expect(!service.service.logText.contains("unexpected error"))
        }
        try await collector.close()
    }
}
