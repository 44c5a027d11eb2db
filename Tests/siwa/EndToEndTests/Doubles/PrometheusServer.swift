import Foundation
import StrictJSON
import TestSupport

/// Debian's Prometheus as a process, with everything that it stores in a folder of the test.
final class PrometheusServer: Sendable {
    struct Alert: Sendable, Hashable {
        let name: String
        let job: String
        /// `pending` or `firing`.
        let state: String
        let summary: String
    }

    struct NotReady: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Process
    private let client: Backend

    private init(_ process: Process, port: Int) {
        self.process = process
        client = Backend(port: port, secret: "")
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

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
        let list = response.json?["data"]?["alerts"]?.array ?? []
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
        let targets = try await client.get("/api/v1/targets").json?["data"]?["activeTargets"]?.array ?? []
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
