import Foundation
import TestSupport
import Testing

/// `/metrics`, checked by Prometheus' own tool.
@Suite struct MetricsTests {
    @Test func `promtool reports no problems of the metrics`() async throws {
        try await TemporaryDirectory.with { directory in
            let service = try await ServiceProcess.serve(directory, try CrashTests.variables(directory))
            let backend = Backend(port: service.port, secret: CrashTests.secret)
            #expect(try await backend.signIn(try CrashTests.token("someone")).status == 201)
            let metrics = try await backend.get("/metrics").text
            #expect(metrics.contains("siwa_build_info{version=\""))
            #expect(metrics.contains("# HELP siwa_storage_commits_total "))
            #if os(Linux)
                for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "start_time_seconds"] {
                    #expect(metrics.contains("\nprocess_\(name) "))
                }
            #endif
            let verdict = try await OperatorTool.run(
                "promtool", ["check", "metrics"], input: metrics, in: directory)
            #expect(verdict.status == 0, "\(verdict.output)")
            #expect(verdict.output.isEmpty)
            #expect(await service.stop() == 0)
        }
    }

    @Test func `promtool takes the alert rules and the scrape configuration`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = OperatorTool.root.appendingPathComponent("docs/monitoring").path
            let rules = try await OperatorTool.run(
                "promtool", ["check", "rules", "\(files)/alerts.yaml"], in: directory)
            #expect(rules.status == 0, "\(rules.output)")
            let text = try String(contentsOfFile: "\(files)/alerts.yaml", encoding: .utf8)
            let alerts = text.matches(of: /- alert: (\w+)/).map { String($0.1) }
            #expect(rules.output.contains("\(alerts.count) rules found"))
            let page = try String(contentsOfFile: "\(files)/../monitoring.md", encoding: .utf8)
            let runbook = page.split(separator: "\n## Runbook\n").last?.split(separator: "\n## ").first ?? ""
            for alert in alerts {
                #expect(page.contains("| `\(alert)` | "), "\(alert)")
                #expect(runbook.contains("`\(alert)`"), "\(alert)")
            }
            let trial = try await OperatorTool.run(
                "promtool", ["test", "rules", "\(files)/alerts-test.yaml"], in: directory)
            #expect(trial.status == 0, "\(trial.output)")
            let scraping = try await OperatorTool.run(
                "promtool", ["check", "config", "--syntax-only", "\(files)/prometheus.yaml"], in: directory)
            #expect(scraping.status == 0, "\(scraping.output)")
        }
    }

    @Test func `the page, the alerts and the dashboard name what services serve, and no other metric`()
        async throws
    {
        let served = try await MonitoredServices.metrics()
        let files = try MonitoringFiles()
        let named = files.metrics.reduce(into: Set<String>()) { $0.formUnion($1.families) }
        #expect(named == served.families.filter { $0.hasPrefix("siwa_") })
        for (families, labels) in files.metrics {
            for family in families { #expect(served.labels(of: family) == labels, "\(family)") }
        }
        #expect(files.rules.count > 15 && files.panels.count > 40)
        for rule in files.rules {
            #expect(served.mistakes(in: rule.expression) == [], "\(rule.alert)")
            #expect(
                rule.shown.subtracting(served.resultLabels(of: rule.expression)) == [], "\(rule.alert)")
        }
        for panel in files.panels {
            #expect(served.mistakes(in: panel.expression) == [], "\(panel.title)")
            #expect(
                panel.legend.subtracting(served.resultLabels(of: panel.expression)) == [], "\(panel.title)")
        }
        Self.checkRunbook(files, served)
    }

    /// Checks that each word of the runbook that looks like a value of a label is a value: of the metrics in its row,
    /// or of those that its alert asks for.
    private static func checkRunbook(_ files: MonitoringFiles, _ served: ServedMetrics) {
        // Words of others: PostgreSQL's view, and levels of the log.
        let known = files.logFields.union([
            "pg_stat_activity", "pg_stat_replication", "synchronous_standby_names", "error", "warning",
            "timedatectl",
        ])
        var count = 0
        for row in files.runbook {
            let codes = MonitoringFiles.codes(in: row)
            let rules = files.rules.filter { codes.contains($0.alert) }
            #expect(!rules.isEmpty, "\(row)")
            let asked = rules.flatMap { ServedMetrics.names(in: $0.expression) }
            let families = codes.filter { $0.wholeMatch(of: /(siwa|process)_[a-z0-9_]+/) != nil }
            for family in families { #expect(served.families.contains(family), "\(row)") }
            let words = families.union(asked).reduce(into: known) { $0.formUnion(served.words(of: $1)) }
            for code in codes.subtracting(families)
            where code.wholeMatch(of: /[a-z0-9_]+|[0-9A-Z]{5}/) != nil {
                count += 1
                #expect(words.contains(code), "\(code) of \(codes.filter { $0.hasPrefix("Siwa") })")
            }
        }
        #expect(count > 25)
    }

    @Test(arguments: [
        "siwa_verifications_totals", "process_cpu_secs_total",
        #"rate(siwa_verifications_total{result="acceptd"}[5m])"#,
        #"rate(siwa_verifications_total{result!="acceptd"}[5m])"#,
        #"rate(siwa_verifications_total{result=~"accepted|refused"}[5m])"#,
        #"rate(siwa_verifications_total{result!~"refused.*"}[5m])"#,
        #"rate(siwa_verifications_total{verdict="accepted"}[5m])"#,
        "sum by (reason) (rate(siwa_verifications_total[5m]))",
        "sum by (result, route) (rate(siwa_verifications_total[5m]))",
        "sum by (result) (rate(siwa_verifications_total[5m])) and on (code) siwa_keys_ready",
    ])
    func `an expression about what no service serves is found`(expression: String) {
        let served = ServedMetrics([
            """
            # TYPE siwa_verifications_total counter
            siwa_verifications_total{kind="identity-token",result="accepted"} 1
            # TYPE siwa_keys_ready gauge
            siwa_keys_ready 1
            """
        ])
        #expect(served.mistakes(in: expression).count == 1, "\(served.mistakes(in: expression))")
        #expect(
            served.mistakes(
                in:
                    #"sum by (job, result) (rate(siwa_verifications_total{kind="identity-token",job="a"}[5m]))"#
            ) == [])
    }
}
