import AppleEmulator
import Encodings
import Foundation
import GoogleEmulator
import NIOCore
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing
import TraceExport

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
        Expected(.verify, ["siwa.kind": "identity-token"]),
        Expected(.commitAccounts, ["siwa.commands": ""]), Expected(.commitGrants, ["siwa.commands": ""]),
        called(.fetchKeys, 200), called(.fetchKeys, 500, error: nil), called(.callApple, 200),
        called(.callApple, 400, error: nil), called(.callGoogle, 202),
        called(.callGoogle, 503, error: "refused"),
        called(.deliverEvent, 204), called(.deliverEvent, 503, error: "refused"),
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
            let service = try await Self.serve(system, collector: collector, receiver: receiver)

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
            #expect(await service.service.stop() == 0)
        }
        try await receiver.close()
        try await collector.close()
    }

    private static func serve(
        _ system: LinkedSystem, collector: ScriptedServer, receiver: ReceivingServer
    ) async throws -> OAuthReplica {
        let key = try ClientKey.generate(teamID: Relation.team)
        try system.apple.state.configureClientKey(key)
        let secret = try system.directory.write(
            "whsec_\(Base64.encode(Array(repeating: 7, count: 32)))\n", to: "secret")
        let file = """
            \(LinkedClients.configuration)
            webhooks:
              - name: backend
                url: http://127.0.0.1:\(receiver.port)/hook?key=secret-of-the-url
                secret_files: [\(secret)]

            """
        return try await system.serve(
            0,
            [
                "SIWA_CONFIG": try system.directory.write(file, to: "traced.yaml"),
                "SIWA_TRACES_URL": collector.baseURL, "SIWA_TRACES_RATIO": "1", "APPLE_KEY_ID": key.keyID,
                "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "",
            ])
    }

    /// Signs a new user in, and returns the account.
    private static func signIn(
        _ system: LinkedSystem, _ service: OAuthReplica
    ) async throws -> String {
        var recipe = IdentityTokenRecipe()
        (recipe.subject, recipe.authorizationCode) = (try system.makeUser().subject, .made)
        let minted = try system.apple.state.mint(recipe)
        let response = try await service.backend.signIn(
            minted.identityToken, [("authorization_code", .string(minted.authorizationCode ?? ""))])
        #expect(response.status == 201, "\(response.text)")
        return try #require(response["account"]?["id"]?.string)
    }
}
