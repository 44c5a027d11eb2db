import Logging
import PostgresCluster
import PostgresStorage
import StorageConformance

extension Replicas {
    /// The database's name on its server.
    var name: String { url.split(separator: "/").last.map { String($0) } ?? "" }

    /// Opens another database pool, which the caller must close.
    func openAnother() async throws -> PostgresDatabase {
        try await PostgresDatabase.open(
            url: url, sealing: SampleSealing(), connections: 2, logger: Logger(label: "test"))
    }

    /// Every value of every table, as text.
    func dump() async throws -> String {
        let cluster = try await PostgresCluster.shared()
        let tables = try await cluster.superuserQuery(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE tableowner = 'siwa'", in: name
        )
        var text = ""
        for table in tables.split(separator: "\n") {
            text += try await cluster.superuserQuery(
                "SET bytea_output = escape; SELECT entry::text FROM \(table) entry", in: name)
        }
        return text
    }

    /// Breaks every connection to the database.
    func cutConnections() async throws {
        _ = try await PostgresCluster.shared().superuserQuery(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'
            """)
    }
}
