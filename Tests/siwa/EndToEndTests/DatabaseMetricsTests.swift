import PostgresCluster
import TestSupport
import Testing

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
