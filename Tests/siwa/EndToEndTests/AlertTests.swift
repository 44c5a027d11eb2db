import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScriptedHTTP
import TestSupport
import Testing

/// Every alert of docs/monitoring, fired by a real Prometheus.
///
/// `promtool test rules` proves the thresholds and times of the rules. This test proves that Prometheus finds
/// the series on a scraped page: that a target has them under these names and labels. `MetricsTests` proves that
/// services serve these names and labels. To be short, it shortens
/// the times of the rules: every `for` to two seconds, and every range to ten.
@Suite struct AlertTests {
    @Test func `a real Prometheus fires every alert, each in its own state of the service alone`()
        async throws
    {
        let rules = try Self.rules()
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.1) }
        // An alert without a scenario would never have fired before the first night.
        #expect(Set(alerts) == Set(AlertScenario.all.map(\.alert) + ["SiwaDown"]))
        #expect(alerts.count == AlertScenario.all.count + 1)
        try await TemporaryDirectory.with { directory in
            let service = try await ServiceProcess.serve(directory, try CrashTests.variables(directory))
            try await LoopbackServer.run(
                make: { ScriptedMetrics(port: $0) }, respond: { $0.response(to: $1) }
            ) { metrics in
                try rules.write(
                    toFile: "\(directory.path)/alerts.yaml", atomically: true, encoding: .utf8)
                try CrashTests.secret.write(
                    toFile: "\(directory.path)/key", atomically: true, encoding: .utf8)
                let prometheus = try await PrometheusServer.start(
                    Self.configuration(service: service.port, scenarios: metrics.port), in: directory)
                try await Self.waitForScrapes(prometheus)
                // A service without a fault, with all of its metrics, fires none.
                let scenarios = try await Self.firing(
                    Set(AlertScenario.all.map(\.alert)), prometheus)
                #expect(!scenarios.contains { $0.job == "siwa" })
                for alert in scenarios {
                    #expect(alert.job == Self.job(of: alert.name), "\(alert)")
                    #expect(!alert.summary.isEmpty && !alert.summary.contains("{{"))
                }
                #expect(await service.stop() == 0)
                let all = try await Self.firing(Set(alerts), prometheus)
                #expect(all.filter { $0.job == "siwa" }.map(\.name) == ["SiwaDown"])
            }
        }
    }

    /// The rules with short times.
    static func rules() throws -> String {
        let file = OperatorTool.root.appendingPathComponent("docs/monitoring/alerts.yaml")
        return try String(contentsOf: file, encoding: .utf8)
            .replacing(/for: \d+[smhd]\n/, with: "for: 2s\n")
            .replacing(/\[\d+[smhd]\]/, with: "[10s]")
    }

    private static func job(of alert: String) -> String { "scenario-\(alert)" }

    private static func configuration(service: Int, scenarios: Int) -> String {
        let jobs = AlertScenario.all.map { scenario in
            """
              - job_name: \(job(of: scenario.alert))
                metrics_path: /\(scenario.alert)
                static_configs: [{ targets: ["127.0.0.1:\(scenarios)"] }]
            """
        }.joined(separator: "\n")
        return """
            global: { scrape_interval: 1s, evaluation_interval: 1s }
            rule_files: [alerts.yaml]
            scrape_configs:
              - job_name: siwa
                authorization: { credentials_file: key }
                static_configs: [{ targets: ["127.0.0.1:\(service)"] }]
            \(jobs)
            """
    }

    static func waitForScrapes(_ prometheus: PrometheusServer) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while case let errors = try await prometheus.scrapeErrors(), !errors.isEmpty {
            try #require(ContinuousClock.now < end, "\(errors)")
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Returns the firing alerts when all of these fire.
    static func firing(
        _ names: Set<String>, _ prometheus: PrometheusServer
    ) async throws -> Set<PrometheusServer.Alert> {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let firing = try await prometheus.alerts().filter { $0.state == "firing" }
            let missing = names.subtracting(firing.map(\.name))
            if missing.isEmpty { return firing }
            try #require(ContinuousClock.now < end, "these alerts did not fire: \(missing.sorted())")
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}

/// The endpoint of all scenarios: the path is the name of the alert.
private final class ScriptedMetrics: Sendable {
    let port: Int
    private let began = ContinuousClock.now

    init(port: Int) { self.port = port }

    func response(to request: Request) -> Response {
        guard let scenario = AlertScenario.all.first(where: { "/\($0.alert)" == request.uri.path }) else {
            return Response(status: .notFound)
        }
        let seconds = Int((ContinuousClock.now - began) / .seconds(1))
        let text = scenario.lines(seconds).joined(separator: "\n") + "\n"
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
