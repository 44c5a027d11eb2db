import AppleEmulator
import Foundation
import GoogleEmulator
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing
import TraceExport

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
        let run = try await PythonTools.run(
            "python", [PythonTools.client("read_spans.py")] + paths, in: directory
        ).checked()
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
            let key = try ClientKey.generate(teamID: WholeSystem.team)
            try system.apple.state.configureClientKey(key)
            let service = try await system.serve(
                0,
                [
                    "SIWA_TRACES_URL": collector.baseURL, "SIWA_TRACES_RATIO": "1",
                    "SIWA_TRACES_SERVICE": "story", "APPLE_KEY_ID": key.keyID,
                    "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "", "SIWA_LOG_FORMAT": "json",
                ])
            let minted = try await system.apple.state.mint(.of(try system.makeUser(), code: .made))
            let response = try await TestClient.send(
                .POST, "\(service.url)/v1/sign-ins",
                headers: [
                    ("traceparent", "00-\(Self.trace)-00f067aa0ba902b7-01"), ("x-request-id", "story"),
                ],
                json: [
                    ("identity_token", .string(minted.identityToken)),
                    ("authorization_code", .string(minted.authorizationCode ?? "")),
                ], bearer: Backend.secret)
            #expect(response.status == 201, "\(response.text)")
            try await eventually {
                collector.requests.contains { $0.contains(#""name":"call Apple""#) }
                    && collector.requests.contains { $0.contains(Self.trace) }
            }
            let metrics = try await service.backend.get("/metrics").text
            #expect(metrics.contains(#"siwa_trace_spans_total{result="exported"}"#))
            #expect(await service.stop() == 0)

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
                Backend.secret,
            ] { #expect(!exported.contains(secret)) }
            for line in service.logText.split(separator: "\n") {
                let json = try JSONValue(parsing: Array(line.utf8))
                guard json["request_id"] == "story" else { continue }
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
            for _ in 0..<2500 { #expect(try await service.backend.get("/v1/events").status == 200) }
            let clock = ContinuousClock()
            let start = clock.now
            #expect(await service.stop() == 0)
            // Two seconds for the collector, and the rest for a slow machine.
            #expect(clock.now - start < .seconds(20))
            #expect(!service.logText.contains("unexpected error"))
        }
        try await collector.close()
    }
}

/// The spans of the work that no caller waits for: calls to Apple and Google, deliveries of events.
@Suite(.serialized) struct TracedWorkTests {
    /// A span that must have come, once well and once not.
    private struct Expected: Sendable {
        let name: SpanName
        /// Attributes with their values; an empty value stands for any.
        let attributes: [String: String]
        let isFailed: Bool

        init(_ name: SpanName, _ attributes: [String: String], isFailed: Bool = false) {
            (self.name, self.attributes, self.isFailed) = (name, attributes, isFailed)
        }

        func matches(_ span: ExportedSpan) -> Bool {
            span.name == name.rawValue && span.isFailed == isFailed
                && Set(span.attributes.keys) == Set(attributes.keys)
                && attributes.allSatisfy { $1.isEmpty || span.attributes[$0] == $1 }
        }
    }

    private static let host = "127.0.0.1"
    private static let expected: [Expected] = [
        Expected(.verify, ["siwa.kind": "identity-token"]), Expected(.commitAccounts, ["siwa.commands": ""]),
        Expected(.commitGrants, ["siwa.commands": ""]), called(.fetchKeys, 200),
        called(.fetchKeys, 500, error: nil), called(.callApple, 200), called(.callApple, 400, error: nil),
        called(.callGoogle, 202), called(.callGoogle, 503, error: "refused"), called(.deliverEvent, 204),
        called(.deliverEvent, 503, error: "refused"),
    ]

    private static func called(_ name: SpanName, _ status: Int, error: String? = nil) -> Expected {
        var attributes = ["server.address": host, "http.response.status_code": "\(status)"]
        attributes["error.type"] = error
        return Expected(name, attributes, isFailed: status >= 400)
    }

    @Test func `each kind of work has its span with its attributes, and fails with its work`() async throws {
        let collector = try await ScriptedServer(always: .json("{}"))
        let receiver = try await ReceivingServer { attempt in attempt == 0 ? .refuse : .take(after: .zero) }
        try await LinkedSystem.with(.sqlite) { system in
            var refusal = EndpointFault()
            (refusal.status, refusal.remainingRequests) = (500, 1)
            system.apple.state.setFault(refusal, on: .keys)
            // The first code is refused, and the second is exchanged.
            refusal.status = 400
            system.apple.state.setFault(refusal, on: .token)
            var report = GoogleFault()
            (report.status, report.remainingRequests) = (503, 1)
            system.google.setFault(report, at: .report)
            let service = try await system.traced(
                collector: collector,
                receiver: "http://127.0.0.1:\(receiver.port)/hook?key=secret-of-the-url")

            let account = try await Self.signIn(system, service)
            _ = try await Self.signIn(system, service)
            _ = try await service.link(.account(account))
            let grant = try #require(try await service.grants(of: account).first)
            #expect(try await service.unlink(grant, of: account).status == 204)

            var missing = Self.expected
            do {
                try await eventually(within: .seconds(120)) {
                    let spans = try ExportedSpan.all(in: collector.requests)
                    missing = Self.expected.filter { expected in !spans.contains { expected.matches($0) } }
                    return missing.isEmpty
                }
            } catch is NeverTrue {
                let spans = try ExportedSpan.all(in: collector.requests)
                Issue.record("missing: \(missing), of \(spans.filter { !$0.name.contains("/") })")
            }
            let spans = try ExportedSpan.all(in: collector.requests)
            for span in spans {
                // OTLP: 1 internal, 2 server, 3 client.
                let name = SpanName(rawValue: span.name)
                let kind: Int64 = name == .verify ? 1 : name == nil || name == .request ? 2 : 3
                #expect(span.kind == kind, "\(span.name)")
            }
            #expect(
                Set(spans.compactMap { SpanName(rawValue: $0.name) })
                    == Set(SpanName.allCases).subtracting([.request]))
            #expect(!collector.requests.joined().contains("secret-of-the-url"))
            #expect(await service.stop() == 0)
        }
        try await receiver.close()
        try await collector.close()
    }

    /// Signs a new user in, and returns the account.
    private static func signIn(_ system: LinkedSystem, _ service: ServiceProcess) async throws -> String {
        let response = try await service.backend.signIn(system.apple.state, try system.makeUser())
        #expect(response.status == 201, "\(response.text)")
        return try #require(response["account"]?["id"]?.string)
    }
}

/// A span in a request to a collector.
struct ExportedSpan: Sendable {
    let name: String
    let kind: Int64
    let isFailed: Bool
    /// Numbers as text.
    let attributes: [String: String]

    /// The spans of requests as a collector receives them, the oldest first.
    static func all(in requests: [String]) throws -> [ExportedSpan] {
        try requests.flatMap { request -> [ExportedSpan] in
            guard let body = request.firstRange(of: "\r\n\r\n")?.upperBound else { return [] }
            let json = try JSONValue(
                parsing: Array(request[body...].utf8), limits: JSONLimits(depth: 16, members: 256))
            return (json["resourceSpans"]?.array ?? []).flatMap { resource in
                (resource["scopeSpans"]?.array ?? []).flatMap { scope in
                    (scope["spans"]?.array ?? []).map { ExportedSpan($0) }
                }
            }
        }
    }

    private init(_ json: JSONValue) {
        name = json["name"]?.string ?? ""
        kind = json["kind"]?.integer ?? 0
        isFailed = json["status"]?["code"] == .integer(2)
        var attributes: [String: String] = [:]
        for attribute in json["attributes"]?.array ?? [] {
            let value = attribute["value"]
            attributes[attribute["key"]?.string ?? ""] =
                value?["stringValue"]?.string ?? value?["intValue"]?.string ?? ""
        }
        self.attributes = attributes
    }
}
