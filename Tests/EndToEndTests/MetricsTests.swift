import Foundation
import Testing

/// `/metrics` as Prometheus' own tool judges it.
@Suite struct MetricsTests {
    @Test func `promtool finds nothing to say about the metrics`() async throws {
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
            let verdict = try await Promtool.check(metrics, in: directory)
            #expect(verdict.status == 0, "\(verdict.output)")
            #expect(verdict.output.isEmpty)
            #expect(await service.stop() == 0)
        }
    }
}
