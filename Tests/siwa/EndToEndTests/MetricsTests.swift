import Foundation
import PostgresCluster
import TestSupport
import Testing

/// `/metrics`, checked by Prometheus' own tool.
@Suite struct MetricsTests {
    @Test func `promtool reports no problems of the metrics`() async throws {
        try await ServiceProcess.with { service, directory in
            let backend = service.backend
            #expect(try await backend.signIn(try Minted.token("someone")).status == 201)
            let metrics = try await backend.get("/metrics").text
            #expect(metrics.contains("siwa_build_info{version=\""))
            #expect(metrics.contains("# HELP siwa_storage_commits_total "))
            #if os(Linux)
                for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "start_time_seconds"] {
                    #expect(metrics.contains("\nprocess_\(name) "))
                }
            #endif
            let verdict = try await OperatorTool.run(
                "promtool", ["check", "metrics"], input: metrics, in: directory
            ).checked()
            #expect(verdict.output.isEmpty)
        }
    }

    @Test func `promtool takes the alert rules and the scrape configuration`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = ProjectFolder.root.appendingPathComponent("docs/monitoring").path
            let rules = try await OperatorTool.run(
                "promtool", ["check", "rules", "\(files)/alerts.yaml"], in: directory
            ).checked()
            let text = try ProjectFolder.text("docs/monitoring/alerts.yaml")
            let alerts = text.matches(of: /- alert: (\w+)/).map { String($0.1) }
            #expect(rules.output.contains("\(alerts.count) rules found"))
            let page = try ProjectFolder.text("docs/monitoring.md")
            let runbook = page.split(separator: "\n## Runbook\n").last?.split(separator: "\n## ").first ?? ""
            for alert in alerts {
                #expect(page.contains("| `\(alert)` | "), "\(alert)")
                #expect(runbook.contains("`\(alert)`"), "\(alert)")
            }
            try await OperatorTool.run(
                "promtool", ["test", "rules", "\(files)/alerts-test.yaml"], in: directory
            ).checked()
            try await OperatorTool.run(
                "promtool", ["check", "config", "--syntax-only", "\(files)/prometheus.yaml"], in: directory
            ).checked()
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
            #expect(rule.shown.subtracting(served.resultLabels(of: rule.expression)) == [], "\(rule.alert)")
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

/// Metrics as services serve them: their families, and the labels of their series with all values.
struct ServedMetrics: Sendable {
    /// Labels that Prometheus adds to each series.
    static let added: Set<String> = ["job", "instance"]

    /// Names of the `# TYPE` lines.
    private(set) var families: Set<String> = []
    /// By the name of a series, such as `siwa_oauth_commit_seconds_bucket`, and by label.
    private var series: [String: [String: Set<String>]] = [:]

    /// - Parameter pages: Texts of `/metrics`, each of a service with other functions.
    init(_ pages: [String]) {
        for line in pages.joined(separator: "\n").split(separator: "\n") {
            if let type = line.wholeMatch(of: /# TYPE ([a-z0-9_]+) .*/) {
                families.insert(String(type.1))
            } else if let line = line.wholeMatch(of: /([a-z0-9_]+)(?:\{(.*)\})? [^ ]+/) {
                var labels = series[String(line.1)] ?? [:]
                for label in (line.2 ?? "").matches(of: /([a-z_]+)="((?:[^"\\]|\\.)*)"/) {
                    labels[String(label.1), default: []].insert(String(label.2))
                }
                series[String(line.1)] = labels
            }
        }
    }

    func isServed(_ name: String) -> Bool { series[name] != nil }

    func values(of label: String, in name: String) -> Set<String> { series[name]?[label] ?? [] }

    /// The labels of a family, without the bounds of a histogram.
    func labels(of family: String) -> Set<String> {
        Set((series[family] ?? series["\(family)_bucket"] ?? [:]).keys).subtracting(["le"])
    }

    /// All words of a family: its labels and their values.
    func words(of family: String) -> Set<String> {
        let labels = series[family] ?? series["\(family)_bucket"] ?? [:]
        return Set(labels.keys).union(labels.values.joined())
    }

    func labels(ofSeries name: String) -> Set<String> { Set((series[name] ?? [:]).keys) }

    /// Says what an expression of PromQL asks for that no service serves: families, labels in `by` and `on`, and
    /// values in matchers of all four kinds.
    func mistakes(in expression: String) -> [String] {
        var mistakes: [String] = []
        for name in Self.names(in: expression) where !isServed(name) {
            mistakes.append("no service has \(name)")
        }
        for selector in expression.matches(of: /((?:siwa|process)_[a-z0-9_]+)\{([^}]*)\}/) {
            for matcher in selector.2.matches(of: /([a-z_]+)(=~|!~|!=|=)"([^"]*)"/) {
                let label = String(matcher.1)
                guard !Self.added.contains(label) else { continue }
                let values = values(of: label, in: String(selector.1))
                let isPattern = matcher.2.hasSuffix("~")
                for word in isPattern ? matcher.3.split(separator: "|") : [matcher.3]
                where !Self.isFound(word, among: values, isPattern: isPattern) {
                    mistakes.append("\(selector.1) has no \(label)=\"\(word)\"")
                }
            }
        }
        for (labels, names) in Self.groups(in: expression) {
            for name in names {
                let unknown = labels.subtracting(Self.added).subtracting(self.labels(ofSeries: name))
                mistakes += unknown.map { "\(name) has no label \($0)" }
            }
            if names.isEmpty { mistakes.append("by (\(labels.sorted())) is about no series") }
        }
        let grouped = Self.groupedLabels(in: expression)
        for join in expression.matches(of: /\b(?:on|ignoring|without|group_left) ?\(([^)]*)\)/) {
            mistakes += Self.list(join.1).subtracting(grouped).map { "on \($0), which nothing is grouped by" }
        }
        return mistakes
    }

    /// The labels that results of an expression have: those of its groups, or of its series without groups.
    func resultLabels(of expression: String) -> Set<String> {
        let grouped = Self.groupedLabels(in: expression)
        guard Self.groups(in: expression).isEmpty else { return grouped }
        return Self.names(in: expression).reduce(into: Self.added) { $0.formUnion(labels(ofSeries: $1)) }
    }

    static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:siwa|process)_[a-z0-9_]+/).map { String($0.0) })
    }

    private static func isFound(_ word: Substring, among values: Set<String>, isPattern: Bool) -> Bool {
        guard isPattern, let pattern = try? Regex(String(word)) else { return values.contains(String(word)) }
        return values.contains { $0.wholeMatch(of: pattern) != nil }
    }

    private static func groupedLabels(in expression: String) -> Set<String> {
        groups(in: expression).reduce(into: added) { $0.formUnion($1.labels) }
    }

    private static func list(_ text: Substring) -> Set<String> {
        Set(text.split { ", ".contains($0) }.map(String.init))
    }

    /// Each `by (labels) (body)` with the series of its body.
    private static func groups(in expression: String) -> [(labels: Set<String>, names: Set<String>)] {
        expression.matches(of: /\bby ?\(([^)]*)\) ?\(/).map { match in
            var depth = 1
            let body = expression[match.range.upperBound...].prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            }
            return (list(match.1), names(in: String(body)))
        }
    }
}

/// Metrics of a service that gets no requests while its PostgreSQL, or a standby, is lost.
@Suite(.serialized) struct DatabaseMetricsTests {
    private static let failures = #"siwa_storage_failures_total{cause="unavailable"}"#
    private static let work = #"siwa_work_oldest_seconds{queue="erasure"}"#

    @Test(.timeLimit(.hung))
    func `a stopped server shows in the metrics of an idle service, and its return too`() async throws {
        let cluster = try await PostgresCluster.start()
        let database = try await cluster.makeDatabase()
        try await Relation.with { relation in
            let (service, backend) = try await relation.serve(["DATABASE_URL": database])
            try await eventually {
                let metrics = try await Self.metrics(backend)
                return metrics["siwa_database_ready"] == 1 && metrics[Self.work] == 0
            }
            #expect(try await Self.metrics(backend)[Self.failures] == 0)
            try await cluster.stop(.immediate)
            try await eventually {
                let metrics = try await Self.metrics(backend)
                // A number about work that cannot be read must not look like the last healthy one.
                return metrics["siwa_database_ready"] == 0 && metrics[Self.work]?.isNaN == true
                    && metrics[Self.failures, default: 0] >= 5
            }
            try await cluster.start()
            try await eventually {
                let metrics = try await Self.metrics(backend)
                return metrics["siwa_database_ready"] == 1 && metrics[Self.work] == 0
            }
            #expect(await service.stop() == 0)
        }
        try await cluster.remove()
    }

    @Test(.timeLimit(.hung))
    func `a lost synchronous standby shows in the metrics of an idle service`() async throws {
        let primary = try await PostgresCluster.start()
        let database = try await primary.makeDatabase()
        let standby = try await primary.makeStandby(name: "second")
        try await primary.commitAtStandbys("second")
        try await Relation.with { relation in
            let (service, backend) = try await relation.serve(["DATABASE_URL": database])
            func waitFor(connected: Double) async throws {
                try await eventually {
                    let metrics = try await Self.metrics(backend)
                    return metrics["siwa_database_standbys_required"] == 1
                        && metrics["siwa_database_standbys_connected"] == connected
                }
            }
            try await waitFor(connected: 1)
            try await standby.stop(.immediate)
            try await waitFor(connected: 0)
            try await standby.start()
            try await waitFor(connected: 1)
            #expect(await service.stop() == 0)
        }
        try await standby.remove()
        try await primary.remove()
    }

    /// The series of `/metrics` with their values.
    private static func metrics(_ backend: Backend) async throws -> [String: Double] {
        let lines = try await backend.get("/metrics").text.split(separator: "\n")
        let series = lines.filter { !$0.hasPrefix("#") }.compactMap { line -> (String, Double)? in
            guard let space = line.lastIndex(of: " "), let value = Double(line[space...].dropFirst()) else {
                return nil
            }
            return (String(line[..<space]), value)
        }
        return Dictionary(series) { first, _ in first }
    }
}
