import AppleEmulator
import Encodings
import Foundation
import HTTPAPI
import NIOCore
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Services that together have each function with metrics of its own.
enum MonitoredServices {
    /// The metrics of a service on SQLite without OAuth clients, of one with App Attest, and of one on PostgreSQL
    /// with OAuth clients, receivers of events and traces, after calls to Apple, Google and a receiver.
    static func metrics() async throws -> ServedMetrics {
        ServedMetrics([try await plain(), try await attested(), try await linked()])
    }

    private static func plain() async throws -> String {
        try await TemporaryDirectory.with { directory in
            try await text(of: directory, CrashTests.variables(directory))
        }
    }

    private static func attested() async throws -> String {
        try await TemporaryDirectory.with { directory in
            let file = try directory.write(
                """
                teams:
                  - team_id: A1B2C3D4E5
                    apps:
                      - client_ids: [\(TokenMint.clientID)]
                        app_attest: [{bundle_id: \(TokenMint.clientID), app_check: monitored}]
                """, to: "siwa.yaml")
            let inFile: Set = ["APPLE_TEAM_ID", "APPLE_CLIENT_IDS"]
            return try await text(
                of: directory,
                CrashTests.variables(directory).filter { !inFile.contains($0.key) }
                    .merging(["SIWA_CONFIG": file]) { $1 })
        }
    }

    private static func text(
        of directory: TemporaryDirectory, _ variables: [String: String]
    ) async throws -> String {
        let service = try await ServiceProcess.serve(directory, variables)
        let backend = Backend(port: service.port, secret: CrashTests.secret)
        #expect(try await backend.signIn(try CrashTests.token("someone")).status == 201)
        let text = try await backend.get("/metrics").text
        #expect(await service.stop() == 0)
        return text
    }

    private static func linked() async throws -> String {
        let collector = try await ScriptedServer(always: .json("{}"))
        let receiver = try await ReceivingServer { _ in .take(after: .zero) }
        let text = try await LinkedSystem.with(.postgres) { system in
            let service = try await serve(system, collector: collector, receiver: receiver)
            var recipe = IdentityTokenRecipe()
            (recipe.subject, recipe.authorizationCode) = (try system.makeUser().subject, .made)
            let minted = try system.apple.state.mint(recipe)
            let response = try await service.backend.signIn(
                minted.identityToken, [("authorization_code", .string(minted.authorizationCode ?? ""))])
            let account = try #require(response["account"]?["id"]?.string, "\(response.text)")
            _ = try await service.link(.account(account))
            let grant = try #require(try await service.grants(of: account).first)
            #expect(try await service.unlink(grant, of: account).status == 204)
            // The exchange, the report and the delivery are the work of workers.
            let endpoints = ["keys", "token", "events:report", "delivery"]
            try await eventually(within: .seconds(120)) {
                let text = try await service.backend.get("/metrics").text
                return endpoints.allSatisfy { text.contains("_count{endpoint=\"\($0)\"}") }
            }
            let text = try await service.backend.get("/metrics").text
            #expect(await service.service.stop() == 0)
            return text
        }
        try await receiver.close()
        try await collector.close()
        return text
    }

    private static func serve(
        _ system: LinkedSystem, collector: ScriptedServer, receiver: ReceivingServer
    ) async throws -> OAuthReplica {
        let key = try ClientKey.generate(teamID: Relation.team)
        try system.apple.state.configureClientKey(key)
        let secret = try system.directory.write(
            "whsec_\(Base64.encode(Array(repeating: 7, count: 32)))\n", to: "secret")
        let shop = "redirect_uris: [\"\(LinkedClients.webURI)\"]\n"
        let file = """
            \(LinkedClients.configuration.replacing(shop, with: "\(shop)      events: poll\n      allow_device_grant: true\n"))
            webhooks:
              - name: backend
                url: http://127.0.0.1:\(receiver.port)/hook
                secret_files: [\(secret)]

            """
        return try await system.serve(
            0,
            [
                "SIWA_CONFIG": try system.directory.write(file, to: "monitored.yaml"),
                "SIWA_TRACES_URL": collector.baseURL, "SIWA_TRACES_RATIO": "1", "APPLE_KEY_ID": key.keyID,
                "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "",
            ])
    }
}
