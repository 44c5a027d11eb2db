import AppleAccounts
import Cryptography
import Encodings
import Foundation
import HTTPAPI
import JOSE
import ScriptedHTTP
import SiwaBinary
import StrictJSON
import TestSupport
import Testing

/// A webhook as its operator sees it: a process with a configuration, and a server that receives.
@Suite(.timeLimit(.hung)) struct WebhookStoryTests {
    private static let key = Array("0123456789abcdef0123456789abcdef".utf8)

    private struct Received {
        let id: String
        let body: String
        let isSigned: Bool
    }

    /// Reads the requests of a receiver, and verifies their signatures as the page on events says.
    private static func received(_ server: ScriptedServer) -> [Received] {
        server.requests.compactMap { request in
            guard let end = request.firstRange(of: "\r\n\r\n") else { return nil }
            let body = String(request[end.upperBound...])
            var fields: [String: String] = [:]
            for line in request[..<end.lowerBound].split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                if parts.count == 2 {
                    fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
                }
            }
            let id = fields["webhook-id"] ?? ""
            let message = "\(id).\(fields["webhook-timestamp"] ?? "").\(body)"
            let code = Base64.encode(HMACSHA256(key: key).code(for: Array(message.utf8)))
            return Received(id: id, body: body, isSigned: fields["webhook-signature"] == "v1,\(code)")
        }
    }

    static func variables(
        _ directory: TemporaryDirectory, _ servers: [(String, ScriptedServer)], more: [String] = []
    ) throws -> [String: String] {
        let secret = try directory.write("whsec_\(Base64.encode(key))\n", to: "secret")
        let webhooks = servers.map { name, server in
            """
              - name: \(name)
                url: \(server.baseURL)/siwa
                secret_files: [\(secret)]
            """
        }
        return try ServiceProcess.variables(
            directory, ["SIWA_ENV": "development"],
            yaml: "webhooks:\n" + (webhooks + more).joined(separator: "\n") + "\n")
    }

    private static let taken = ScriptedServer.Response.send("HTTP/1.1 204 X\r\n\r\n")

    /// IDs of all events, in the order of the feed.
    private static func feed(_ backend: Backend) async throws -> [String] {
        try await backend.get("/v1/events?limit=1000")["events"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test func `events arrive within a second, signed, and a dead receiver delays nothing`() async throws {
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer(always: Self.taken)
            let hanging = try await ScriptedServer(always: .nothing)
            let variables = try Self.variables(directory, [("backend", server), ("dead", hanging)])
            let service = try await ServiceProcess.serve(directory, variables)
            let backend = service.backend
            var delays: [Duration] = []
            for number in 0..<20 {
                #expect(try await backend.signIn(try Minted.token("user\(number)")).status == 201)
                let began = ContinuousClock.now
                try await eventually { server.requests.count >= 2 * (number + 1) }
                delays.append(ContinuousClock.now - began)
            }
            // The median, because other tests run at the same time. The dead one takes ten seconds for each.
            #expect(delays.sorted()[10] < .seconds(1), "\(delays)")
            let received = Self.received(server)
            #expect(received.filter { !$0.isSigned }.isEmpty)
            #expect(received.map(\.id) == (try await Self.feed(backend)))
            // Seen by the operator, while the service runs.
            let metrics = try await backend.get("/metrics").text
            #expect(metrics.contains("siwa_event_deliveries_total{result=\"delivered\"} 40\n"))
            for name in ["waiting", "paused"] {
                #expect(metrics.contains("# HELP siwa_event_receiver_\(name) "))
                #expect(metrics.contains("# TYPE siwa_event_receiver_\(name) gauge\n"))
                #expect(metrics.contains("siwa_event_receiver_\(name){receiver=\"dead\"} "))
            }
            let list = try await Self.deliveries(["list"], variables, in: directory)
            #expect(list.status == 0)
            #expect(list.output.contains("dead: "))
            let busy = try await Self.deliveries(["resume", "dead"], variables, in: directory)
            #expect(busy.status == 1)
            #expect(busy.output.contains("stop the service"))
            #expect(await service.stop() == 0)
            try await server.close()
            try await hanging.close()
        }
    }

    @Test func `what a killed process had not sent arrives after the restart, and a replay sends all again`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer { number in
                // The receiver is away at first.
                number <= 4 ? .sendAndClose("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n") : Self.taken
            }
            let variables = try Self.variables(directory, [("backend", server)])
            let first = try await ServiceProcess.serve(directory, variables)
            let backend = first.backend
            for number in 0..<4 {
                #expect(try await backend.signIn(try Minted.token("user\(number)")).status == 201)
            }
            let ids = Set(try await Self.feed(backend))
            await first.kill()
            let second = try await ServiceProcess.serve(directory, variables)
            try await eventually(within: .seconds(120)) {
                Set(Self.received(server).dropFirst(4).map(\.id)) == ids
            }
            #expect(await second.stop() == 0)
            let before = server.requests.count
            let replay = try await Self.deliveries(
                ["replay", "backend", "--since", "2020-01-01T00:00:00Z"], variables, in: directory)
            #expect(replay.output == "backend gets up to \(ids.count) events.\n")
            let third = try await ServiceProcess.serve(directory, variables)
            try await eventually { server.requests.count == before + ids.count }
            #expect(await third.stop() == 0)
            let list = try await Self.deliveries(["list"], variables, in: directory)
            #expect(list.output == "backend: up to date\n")
            let unknown = try await Self.deliveries(["resume", "nobody"], variables, in: directory)
            #expect(unknown.status == 1)
            try await server.close()
        }
    }

    @Test(arguments: [true, false])
    func `a receiver with an audience gets tokens that the published keys verify, also without OAuth clients`(
        hasClients: Bool
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer(always: .emptyAccepted)
            let webhooks = """
                webhooks:
                  - name: backend
                    url: \(server.baseURL)/events
                    audience: billing

                """
            let variables = try ServiceProcess.variables(
                directory, ServiceProcess.signing(),
                yaml: hasClients ? webhooks + OAuthSection.phone + "\n" : webhooks)
            let service = try await ServiceProcess.serve(directory, variables)
            let backend = service.backend
            #expect(try await backend.signIn(try Minted.token("someone")).status == 201)
            try await eventually { server.requests.count == 2 }
            let keys = try await backend.get("/v1/jwks.json")["keys"]?.array ?? []
            #expect(!keys.isEmpty)
            #expect(try await backend.get("/oauth/jwks.json").status == (hasClients ? 200 : 404))
            let verification = try keys.map { try TokenVerificationKey(jwk: $0) }
            let verifier = SecurityEventVerifier(issuer: "http://127.0.0.1:8080", audiences: ["billing"])
            for request in server.requests {
                #expect(request.lowercased().contains("\r\ncontent-type: application/secevent+jwt\r\n"))
                let end = try #require(request.firstRange(of: "\r\n\r\n")?.upperBound)
                let claims = try verifier.verify(
                    String(request[end...]), at: Int64(Date().timeIntervalSince1970)
                ) { id in verification.first { $0.keyID == id } }
                #expect(claims.events.members.count == 1)
            }
            #expect(await service.stop() == 0)
            try await server.close()
        }
    }

    static func deliveries(
        _ arguments: [String], _ variables: [String: String], in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        try await BuiltSiwa.run(["deliveries"] + arguments, variables, in: directory)
    }
}

/// Deliveries of the built program, verified by libraries of others.
@Suite(.timeLimit(.hung)) struct ForeignReceiverTests {
    private static let issuer = "http://127.0.0.1:8080"
    private static let audience = "billing"
    private static let secrets = [WebhookSender.key, WebhookSender.otherKey].map(WebhookSender.secret)

    @Test func `webhooks and tokens of all kinds pass the libraries of others`() async throws {
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer(always: .emptyAccepted)
            let service = try await ServiceProcess.serve(
                directory, try Self.variables(directory, receivers: server.baseURL))
            let backend = service.backend
            try await Self.cause(backend)
            let events = try await backend.get("/v1/events?limit=1000")["events"]?.array ?? []
            #expect(events.count >= 8)
            try await eventually { server.requests.count == 2 * events.count }
            let deliveries = try directory.write(
                server.requests.compactMap(Self.line).joined(separator: "\n"), to: "deliveries.jsonl")
            try await PythonTools.runClient(
                "verify_deliveries", given: Self.given(deliveries, keys: service.url), in: directory)
            #expect(await service.stop() == 0)
            try await server.close()
        }
    }

    /// Kinds that `cause` brings about.
    private static let kinds: [AccountEvent.Kind] = [
        .accountCreated, .credentialAuthorized, .credentialRevoked, .accountDisabled, .accountEnabled,
        .sessionsEnded, .accountErased,
    ]

    private static func cause(_ backend: Backend) async throws {
        let first = try await backend.signIn(try Minted.token("ada"))
        let account = first["account"]?["id"]?.string ?? ""
        for (change, members) in [
            ("disable", [("reason", "fraud")]), ("enable", []), ("sign-out", []),
        ] as [(String, Backend.Members)] {
            #expect(try await backend.post("/v1/accounts/\(account)/\(change)", members).status == 200)
        }
        #expect(try await backend.notify(try Minted.notification("ada")).status == 200)
        // About a user who has never signed in here.
        #expect(try await backend.notify(try Minted.notification("stranger")).status == 200)
        #expect(try await backend.delete("/v1/accounts/\(account)").status <= 202)
    }

    private static func variables(
        _ directory: TemporaryDirectory, receivers: String
    ) throws -> [String: String] {
        let files = try secrets.enumerated().map { number, secret in
            try directory.write(secret + "\n", to: "secret-\(number)")
        }
        let file = """
            webhooks:
              - name: webhook
                url: \(receivers)/webhook
                secret_files: [\(files.joined(separator: ", "))]
              - name: push
                url: \(receivers)/push
                audience: \(audience)
            \(OAuthSection.phone)

            """
        return try ServiceProcess.variables(directory, ServiceProcess.signing(), yaml: file)
    }

    /// A received request as a line of JSON.
    private static func line(of request: String) -> String? {
        guard let end = request.firstRange(of: "\r\n\r\n") else { return nil }
        let head = request[..<end.lowerBound].components(separatedBy: "\r\n")
        let fields = head.dropFirst().compactMap { line -> JSONValue? in
            let parts = line.components(separatedBy: ": ")
            guard parts.count == 2 else { return nil }
            return .array([.string(parts[0].lowercased()), .string(parts[1])])
        }
        let delivery: JSONValue = [
            "path": .string(head[0].components(separatedBy: " ").dropFirst().first ?? ""),
            "headers": .array(fields), "body": .string(String(request[end.upperBound...])),
        ]
        return delivery.serializedText
    }

    /// The argument of the program.
    private static func given(_ deliveries: String, keys service: String) -> JSONValue {
        let types = AccountEvent.Kind.allCases.map {
            ($0.rawValue, JSONValue.string($0.securityEventType.uri))
        }
        return [
            "root": .string(ProjectFolder.root.path), "deliveries": .string(deliveries),
            "secrets": .array(secrets.map { .string($0) }), "issuer": .string(issuer),
            "audience": .string(audience), "types": .object(JSONObject(types)),
            "kinds": .array(kinds.map { .string($0.rawValue) }),
            "keys_url": .string("\(service)/oauth/jwks.json"),
        ]
    }
}
