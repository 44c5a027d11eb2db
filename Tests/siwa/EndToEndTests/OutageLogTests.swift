import Foundation
import PostgresCluster
import TestSupport
import Testing

#if os(Linux)
    /// Log lines of a service under load while PostgreSQL is unavailable, full or locked: the beginning and
    /// the end of the outage, and few other lines. The lines of single requests do not count.
    @Suite(.serialized) struct OutageLogTests {
        enum Outage: String, CaseIterable { case gone, full, locked }

        /// Largest number of lines in a minute. The outage of the test is shorter, and most lines are written
        /// at its beginning.
        static let mostLines = 100

        @Test(arguments: Outage.allCases)
        func `an outage writes few lines, is seen by readiness, and ends by itself`(
            outage: Outage
        ) async throws {
            try await LinkedSystem.with(.postgres) { system in
                let service = try await system.serve()
                let backend = service.backend
                let link = try await service.link(.token(try system.identityToken()))
                let before = try Self.lines(of: system)
                let end = try await Self.begin(outage, system.database)
                let body = #"{"identity_token":"\#(try system.identityToken())"}"#
                let fields = ["Content-Type: application/json", "Authorization: Bearer \(Backend.secret)"]
                let began = ContinuousClock.now
                var refused = 0
                while ContinuousClock.now - began < .seconds(6) {
                    let found = try await RequestFlood.run(
                        outage == .locked ? 64 : 500, port: service.port, from: "127.0.0.1"
                    ) { _ in RequestFlood.post("/v1/sign-ins", body: body, fields) }
                    refused += found[503] ?? 0
                }
                // Behind a lock each waits until it gives up.
                #expect(refused >= (outage == .locked ? 50 : 400))
                #expect(try await backend.get("/readyz").code == "storage_unavailable")
                let written = try Self.lines(of: system).dropFirst(before.count)
                #expect(written.count < Self.mostLines / 2, "\(written.joined(separator: "\n"))")
                if outage != .gone {
                    let state = outage == .full ? "53100" : "55P03"
                    #expect(written.contains { $0.contains(state) }, "\(written)")
                }
                try await end()
                try await eventually { try await backend.get("/readyz").status == 200 }
                #expect(try await service.refresh(link.refreshToken).status == 200)
                #expect(await service.stop() == 0)
            }
        }

        private static func lines(of system: LinkedSystem) throws -> [String] {
            let directory = system.directory.path
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            let texts = try files.filter { $0.hasSuffix(".log") }.map {
                try String(contentsOfFile: "\(directory)/\($0)", encoding: .utf8)
            }
            return texts.joined().split(separator: "\n").map { String($0) }.filter {
                !$0.contains("msg=request ") && !$0.contains("msg=\"requests without a caller\"")
                    && !$0.contains("msg=\"requests answered with 503\"")
            }
        }

        /// Begins an outage, and returns the function that ends it.
        private static func begin(
            _ outage: Outage, _ database: ObservedDatabase
        ) async throws -> @Sendable () async throws -> Void {
            let name = try await database.query("SELECT current_database()")
            let cluster = try await PostgresCluster.shared()
            let cut =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'"
            switch outage {
            case .gone:
                try await cluster.superuserQuery("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
                try await cluster.superuserQuery(cut)
                return { try await cluster.superuserQuery("ALTER DATABASE \(name) ALLOW_CONNECTIONS true") }
            case .full:
                try await database.query(
                    """
                    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END
                    $$;
                    CREATE TRIGGER full_disk BEFORE UPDATE OR INSERT ON subject EXECUTE FUNCTION full_disk();
                    CREATE TRIGGER full_disk BEFORE UPDATE OR INSERT ON credential EXECUTE FUNCTION full_disk()
                    """)
                return { try await database.query("DROP FUNCTION full_disk CASCADE") }
            case .locked:
                let holder = Task {
                    try await database.query("BEGIN; LOCK TABLE credential; SELECT pg_sleep(300)")
                }
                try await eventually {
                    try await database.query(
                        "SELECT count(*) FROM pg_locks WHERE relation = 'credential'::regclass AND granted")
                        == "1"
                }
                return {
                    try await cluster.superuserQuery(
                        "\(cut) AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
                    _ = try? await holder.value
                }
            }
        }
    }
#endif
