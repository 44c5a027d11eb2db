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
            try Self.compareWithThePage(metrics)
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

    /// Checks that docs/monitoring.md names exactly the served metric families, and that the alert rules use
    /// no other family.
    private static func compareWithThePage(_ metrics: String) throws {
        let docs = OperatorTool.root.appendingPathComponent("docs")
        let page = try String(contentsOf: docs.appendingPathComponent("monitoring.md"), encoding: .utf8)
        let rules = try String(
            contentsOf: docs.appendingPathComponent("monitoring/alerts.yaml"), encoding: .utf8)
        let served = Set(metrics.matches(of: #/# TYPE (siwa_[a-z_]+) /#).map { String($0.1) })
        let named = Set(page.matches(of: /`(siwa_[a-z_]+)`/).map { String($0.1) })
        // This service has no web sign-in, no OAuth clients, no App Check and no webhooks.
        #expect(
            named
                == served.union([
                    "siwa_app_check_requests_total", "siwa_app_check_dropped_total",
                    "siwa_web_sign_ins_total", "siwa_oauth_token_requests_total",
                    "siwa_oauth_token_refusals_total", "siwa_oauth_connections_total",
                    "siwa_oauth_authorizations_total", "siwa_oauth_introspections_total",
                    "siwa_oauth_app_flips_total", "siwa_oauth_app_flip_prompts_total",
                    "siwa_oauth_logouts_total", "siwa_oauth_device_page_total",
                    "siwa_oauth_device_requests_total", "siwa_oauth_queue_depth",
                    "siwa_oauth_commits_total", "siwa_oauth_commands_total", "siwa_oauth_commit_seconds",
                    "siwa_google_events_received_total",
                    "siwa_google_events_unmatched_total", "siwa_event_deliveries_total",
                    "siwa_event_receiver_waiting", "siwa_event_receiver_paused",
                    // On PostgreSQL only, and after a call to Apple.
                    "siwa_database_connections", "siwa_database_connection_waiters",
                    "siwa_database_standbys_required", "siwa_database_standbys_connected",
                    "siwa_database_sessions_opened", "siwa_outgoing_request_seconds",
                    "siwa_event_polled_tokens_total", "siwa_event_polls",
                    // With a collector of traces.
                    "siwa_trace_spans_total",
                ]))
        let dashboard = try String(
            contentsOf: docs.appendingPathComponent("monitoring/dashboard.json"), encoding: .utf8)
        for text in [rules, dashboard.replacing("\\\"", with: "\"")] {
            try expectServedLabels(of: text, metrics)
            let used = Set(text.matches(of: /siwa_[a-z_]+/).map { Self.family(of: String($0.0)) })
            #expect(used.count > 10 && used.subtracting(named) == [])
        }
    }

    /// Checks that the values of labels in selectors are those of series that the service has: a route or a
    /// result with another name would never be found. Leaves out metrics that this service does not have.
    private static func expectServedLabels(of text: String, _ metrics: String) throws {
        var checked = 0
        for selector in text.matches(of: /(siwa_[a-z_]+)\{([^}]*)\}/) {
            let series = metrics.split(separator: "\n").filter { $0.hasPrefix("\(selector.1){") }
            guard !series.isEmpty else { continue }
            for matcher in selector.2.matches(of: /([a-z_]+)(=~|=)"([^"]*)"/) where matcher.1 != "job" {
                // A pattern of a dashboard's variable, or one that is more than a list of words.
                if matcher.3.contains("$") || matcher.3.contains("*") { continue }
                for value in matcher.3.split(separator: "|") {
                    checked += 1
                    let label = "\(matcher.1)=\"\(value)\""
                    #expect(series.contains { $0.contains(label) }, "\(selector.1) has no \(label)")
                }
            }
        }
        #expect(checked >= 4)
    }

    /// Returns the name of a metric from the name of one of its series.
    private static func family(of series: String) -> String {
        for suffix in ["_bucket", "_sum", "_count"] where series.hasSuffix(suffix) {
            return String(series.dropLast(suffix.count))
        }
        return series
    }
}
