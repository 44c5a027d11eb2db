import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScriptedHTTP
import StrictJSON
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
            let service = try await ServiceProcess.serve(directory, try ServiceProcess.variables(directory))
            let began = ContinuousClock.now
            try await LoopbackServer.run(
                make: { $0 },
                respond: { _, request in
                    // The path is the name of the alert.
                    let seconds = Int((ContinuousClock.now - began) / .seconds(1))
                    let scenario = AlertScenario.all.first { "/\($0.alert)" == request.uri.path }
                    guard let lines = scenario?.lines(seconds) else { return Response(status: .notFound) }
                    return Response(
                        status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
                        body: ResponseBody(
                            byteBuffer: ByteBuffer(string: lines.joined(separator: "\n") + "\n")))
                }
            ) { port in
                try directory.write(rules, to: "alerts.yaml")
                try directory.write(Backend.secret, to: "key")
                let prometheus = try await PrometheusServer.start(
                    Self.configuration(service: service.port, scenarios: port), in: directory)
                try await Self.waitForScrapes(prometheus)
                // A service without a fault, with all of its metrics, fires none.
                let scenarios = try await Self.firing(Set(AlertScenario.all.map(\.alert)), prometheus)
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
        return try ProjectFolder.text("docs/monitoring/alerts.yaml").replacing(
            /for: \d+[smhd]\n/, with: "for: 2s\n"
        )
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

/// A state of the service that must fire one alert, as the metrics that it shows.
struct AlertScenario: Sendable {
    let alert: String
    /// The lines of `/metrics` some seconds after the beginning. Counters grow with the time.
    let lines: @Sendable (_ seconds: Int) -> [String]

    init(_ alert: String, _ lines: @escaping @Sendable (_ seconds: Int) -> [String]) {
        (self.alert, self.lines) = (alert, lines)
    }

    /// A scenario for each alert but `SiwaDown`, which the test fires by stopping a service.
    static let all: [AlertScenario] = [
        AlertScenario("SiwaCannotVerify") { _ in ["siwa_keys_ready 0"] },
        AlertScenario("SiwaKeysStale") { _ in ["siwa_keys_ready 1", "siwa_keys_stale 1"] },
        AlertScenario("SiwaDatabaseFailing") { _ in ["siwa_database_ready 0"] },
        AlertScenario("SiwaStandbyLost") { _ in
            ["siwa_database_standbys_required 1", "siwa_database_standbys_connected 0"]
        },
        AlertScenario("SiwaOverloaded") { ["siwa_http_requests_turned_away_total \($0)"] },
        AlertScenario("SiwaRefusedByApple") { seconds in
            [#"siwa_apple_exchanges_total{result="client_rejected"} \#(seconds)"#]
        },
        AlertScenario("SiwaEventGivenUp") { seconds in
            [#"siwa_event_deliveries_total{result="abandoned"} \#(seconds)"#]
        },
        AlertScenario("SiwaReceiverBehind") { _ in
            [
                #"siwa_event_receiver_waiting{receiver="backend"} 7"#,
                #"siwa_event_receiver_paused{receiver="backend"} 0"#,
            ]
        },
        AlertScenario("SiwaReceiverPaused") { _ in
            [
                #"siwa_event_receiver_waiting{receiver="backend"} 7"#,
                #"siwa_event_receiver_paused{receiver="backend"} 1"#,
            ]
        },
        AlertScenario("SiwaSealingKeyWrong") { _ in ["siwa_sealed_values_unreadable 3"] },
        AlertScenario("SiwaClockWrong") { _ in ["siwa_clock_skew_seconds -120"] },
        AlertScenario("SiwaTrustedProxiesMissing") { _ in ["siwa_trusted_proxies_missing 1"] },
        AlertScenario("SiwaNotificationsSilent") { seconds in
            [
                #"siwa_apple_checks_total{result="rejected"} \#(seconds)"#,
                "siwa_notification_age_seconds 90000",
            ]
        },
        AlertScenario("SiwaRefusesMany") { seconds in
            [
                #"siwa_verifications_total{kind="identity-token",result="accepted"} \#(60 * seconds)"#,
                #"siwa_verifications_total{kind="identity-token",result="token_expired"} \#(40 * seconds)"#,
            ]
        },
        AlertScenario("SiwaRefusesCalls") { seconds in
            [
                #"siwa_http_refusals_total{code="nonce_used"} \#(20 * seconds)"#,
                #"siwa_http_requests_total{route="/v1/sign-ins",status="401"} \#(20 * seconds)"#,
                #"siwa_http_requests_total{route="/v1/sign-ins",status="201"} \#(80 * seconds)"#,
            ]
        },
        AlertScenario("SiwaRefusesClients") { seconds in
            [
                #"siwa_oauth_token_refusals_total{client="shop",reason="token_unknown"} \#(20 * seconds)"#,
                #"siwa_oauth_token_requests_total{client="shop",grant="refresh_token",result="issued"} \#(seconds)"#,
            ]
        },
        AlertScenario("SiwaAppCheckInvalid") { seconds in
            [("invalid", 20), ("verified", 30)].map { kind, rate in
                #"siwa_app_check_requests_total{target_kind="app",target="com.example.app",kind="\#(kind)"} \#(rate * seconds)"#
            }
        },
        AlertScenario("SiwaSlow") { seconds in
            [("1", 0), ("2.5", 10), ("+Inf", 10)].map { bound, rate in
                #"siwa_http_request_duration_seconds_bucket{route="/v1/sign-ins",le="\#(bound)"} \#(rate * seconds)"#
            }
        },
        AlertScenario("SiwaWorkOverdue") { _ in [#"siwa_work_oldest_seconds{queue="erasure"} 4000"#] },
        AlertScenario("SiwaDiskNearlyFull") { _ in ["siwa_database_disk_free_bytes 1000000"] },
    ]
}

/// Debian's Prometheus as a process, with everything that it stores in a folder of the test.
final class PrometheusServer: Sendable {
    struct Alert: Sendable, Hashable {
        let name: String
        let job: String
        /// `pending` or `firing`.
        let state: String
        let summary: String
    }

    struct NotReady: Error, CustomStringConvertible { let description: String }

    private let process: Process
    private let client: Backend

    private init(_ process: Process, port: Int) {
        self.process = process
        client = Backend(port: port, secret: "")
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Starts the program, and returns when it answers.
    ///
    /// - Parameter configuration: The text of `prometheus.yml`.
    static func start(_ configuration: String, in directory: TemporaryDirectory) async throws
        -> PrometheusServer
    {
        let file = "\(directory.path)/prometheus.yml"
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        let port = try FreePort.find()
        let log = "\(directory.path)/prometheus.log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let process = Process()
        process.executableURL = try OperatorTool.executable("prometheus")
        process.arguments = [
            "--config.file=\(file)", "--storage.tsdb.path=\(directory.path)/tsdb",
            "--web.listen-address=127.0.0.1:\(port)", "--log.level=warn",
        ]
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardOutput = FileHandle(forWritingAtPath: log)
        process.standardError = process.standardOutput
        try process.launchAlone()
        let server = PrometheusServer(process, port: port)
        let end = ContinuousClock.now + .seconds(60)
        while true {
            if let response = try? await server.client.get("/-/ready"), response.status == 200 {
                return server
            }
            guard process.isRunning, ContinuousClock.now < end else {
                let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                throw NotReady(description: "Prometheus is not ready: \(text)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The alerts that are pending or firing now.
    func alerts() async throws -> Set<Alert> {
        let response = try await client.get("/api/v1/alerts")
        let list = response["data"]?["alerts"]?.array ?? []
        return Set(
            list.map { alert in
                Alert(
                    name: alert["labels"]?["alertname"]?.string ?? "",
                    job: alert["labels"]?["job"]?.string ?? "", state: alert["state"]?.string ?? "",
                    summary: alert["annotations"]?["summary"]?.string ?? "")
            })
    }

    /// Errors of scrapes by job; empty when every target has answered.
    func scrapeErrors() async throws -> [String: String] {
        let targets = try await client.get("/api/v1/targets")["data"]?["activeTargets"]?.array ?? []
        var errors: [String: String] = [:]
        for target in targets {
            let text = target["lastError"]?.string ?? ""
            if let job = target["labels"]?["job"]?.string, target["health"]?.string != "up" {
                errors[job] = text.isEmpty ? "not scraped yet" : text
            }
        }
        return errors
    }
}
