import Foundation
import Testing

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
