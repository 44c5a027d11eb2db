import AppleEmulator
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
        ServedMetrics([
            try await text(), try await text(yaml: attested, program: "siwa-dev"), try await linked(),
        ])
    }

    private static let attested = """
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [\(TokenMint.clientID)]
                app_attest: [{bundle_id: \(TokenMint.clientID), app_check: monitored}]
        """

    private static func text(yaml: String? = nil, program: String = "siwa") async throws -> String {
        try await ServiceProcess.with(yaml: yaml, program: program) { service, _ in
            #expect(try await service.backend.signIn(try Minted.token("someone")).status == 201)
            return try await service.backend.get("/metrics").text
        }
    }

    private static func linked() async throws -> String {
        let collector = try await ScriptedServer(always: .json("{}"))
        let receiver = try await ReceivingServer { _ in .take(after: .zero) }
        let text = try await LinkedSystem.with(.postgres) { system in
            let shop = "redirect_uris: [\"\(LinkedClients.webURI)\"]\n"
            let service = try await system.traced(
                clients: LinkedClients.configuration.replacing(
                    shop, with: "\(shop)      events: poll\n      allow_device_grant: true\n"),
                collector: collector, receiver: "http://127.0.0.1:\(receiver.port)/hook")
            let response = try await service.backend.signIn(system.apple.state, try system.makeUser())
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
            #expect(await service.stop() == 0)
            return text
        }
        try await receiver.close()
        try await collector.close()
        return text
    }
}

extension LinkedSystem {
    /// Starts a service with a key for Apple, traces and a webhook.
    func traced(
        clients: String = LinkedClients.configuration, collector: ScriptedServer, receiver: String
    ) async throws -> ServiceProcess {
        let key = try ClientKey.generate(teamID: WholeSystem.team)
        try apple.state.configureClientKey(key)
        let secret = try directory.write(
            WebhookSender.secret(Array(repeating: 7, count: 32)) + "\n", to: "secret")
        let file = """
            \(clients)
            webhooks:
              - name: backend
                url: \(receiver)
                secret_files: [\(secret)]
            """
        return try await serve(
            0,
            [
                "SIWA_CONFIG": try directory.write(file, to: "traced.yaml"),
                "SIWA_TRACES_URL": collector.baseURL, "SIWA_TRACES_RATIO": "1", "APPLE_KEY_ID": key.keyID,
                "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "",
            ])
    }
}

extension ScriptedServer.Response {
    static let emptyAccepted = send("HTTP/1.1 202 X\r\nContent-Length: 0\r\n\r\n")
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
        page = try ProjectFolder.text("docs/monitoring.md")
        rules = try ProjectFolder.text("docs/monitoring/alerts.yaml").components(separatedBy: "- alert: ")
            .dropFirst().map { text in
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
            try JSONSerialization.jsonObject(
                with: Data(try ProjectFolder.text("docs/monitoring/dashboard.json").utf8)), "", into: &panels)
        self.panels = panels
    }

    /// Lines of the runbook, one for each alert or group of alerts.
    var runbook: [Substring] {
        let section =
            page.components(separatedBy: "\n## Runbook\n").last?.components(separatedBy: "\n## ").first ?? ""
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
