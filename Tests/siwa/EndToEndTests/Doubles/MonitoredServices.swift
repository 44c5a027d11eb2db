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
                    .merging(["SIWA_CONFIG": file]) { $1 },
                program: "siwa-dev")
        }
    }

    private static func text(
        of directory: TemporaryDirectory, _ variables: [String: String], program: String = "siwa"
    ) async throws -> String {
        let service = try await ServiceProcess.serve(directory, variables, program: program)
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

/// The files of docs/monitoring, and the tables of docs/monitoring.md.
struct MonitoringFiles {
    struct Rule {
        let alert: String
        let expression: String
        /// Labels that the texts of the alert show.
        let shown: Set<String>
    }

    struct Panel {
        let title: String
        let expression: String
        let legend: Set<String>
    }

    let page: String
    let rules: [Rule]
    let panels: [Panel]

    init() throws {
        let docs = OperatorTool.root.appendingPathComponent("docs")
        func read(_ path: String) throws -> String {
            try String(contentsOf: docs.appendingPathComponent(path), encoding: .utf8)
        }
        page = try read("monitoring.md")
        rules = try read("monitoring/alerts.yaml").components(separatedBy: "- alert: ").dropFirst().map {
            text in
            let alert = String(text.prefix { $0 != "\n" })
            let expression = try #require(
                text.firstMatch(of: /(?s)expr: (?:>-\n)?(.*?)\n +(?:for|labels):/), "\(alert)")
            return Rule(
                alert: alert,
                expression: expression.1.split(separator: "\n")
                    .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " "),
                shown: Set(text.matches(of: /\$labels\.([a-z_]+)/).map { String($0.1) }))
        }
        var panels: [Panel] = []
        Self.collect(
            try JSONSerialization.jsonObject(with: Data(try read("monitoring/dashboard.json").utf8)), "",
            into: &panels)
        self.panels = panels
    }

    /// Lines of the runbook, one for each alert or group of alerts.
    var runbook: [Substring] {
        let section =
            page.components(separatedBy: "\n## Runbook\n").last?
            .components(separatedBy: "\n## ").first ?? ""
        return page.split(separator: "\n").filter { $0.hasPrefix("| `Siwa") && section.contains($0) }
    }

    /// Metrics of the page with their labels.
    var metrics: [(families: Set<String>, labels: Set<String>)] {
        page.split(separator: "\n").filter { $0.hasPrefix("| `siwa_") }.map { line in
            // The first part is empty, before the bar at the begin of the line.
            let cells = line.components(separatedBy: "|")
            return (Self.codes(in: cells[1]), Self.codes(in: cells[2]))
        }
    }

    /// Names of the fields of the log.
    var logFields: Set<String> {
        let table =
            page.components(separatedBy: "\n| field | meaning |\n").last?
            .components(separatedBy: "\n\n").first ?? ""
        let cells = table.split(separator: "\n").map { $0.components(separatedBy: " | ")[0] }
        return Set(cells.flatMap { Self.codes(in: $0) })
    }

    static func codes(in text: some StringProtocol) -> Set<String> {
        Set(String(text).matches(of: /`([^`]+)`/).map { String($0.1) })
    }

    private static func collect(_ value: Any, _ title: String, into panels: inout [Panel]) {
        if let list = value as? [Any] {
            for element in list { collect(element, title, into: &panels) }
        } else if let object = value as? [String: Any] {
            let title = object["title"] as? String ?? title
            if let expression = object["expr"] as? String {
                let legend = object["legendFormat"] as? String ?? ""
                panels.append(
                    Panel(
                        title: title, expression: expression,
                        legend: Set(legend.matches(of: /\{\{([a-z_]+)\}\}/).map { String($0.1) })))
            }
            for (_, member) in object { collect(member, title, into: &panels) }
        }
    }
}
