import AppleAccounts
import PostgresCluster
import TestSupport
import Testing

@testable import PostgresStorage

/// Servers that speak PostgreSQL's protocol.
@Suite struct ServerKindTests {
    @Test(arguments: [
        ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)", "CockroachDB"),
        ("PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, 64-bit", "YugabyteDB"),
        ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.40182", "Amazon Redshift"),
        ("PostgreSQL 9.4.26 (Greenplum Database 6.20.0 build) on x86_64", "Greenplum"),
        ("PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize v0.100.0)", "Materialize"),
        ("PostgreSQL 9.5.0-RisingWave-1.5.0", "RisingWave"), ("CrateDB 5.5.0", "CrateDB"),
        ("", "a server without a version"), ("\n\u{1B}[31mWrong 1", "[31mWrong"),
    ])
    func `other software is known by its version`(version: String, name: String) {
        #expect(ServerKind.otherProduct(in: version) == name)
    }

    @Test(arguments: [
        "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc",
        "PostgreSQL 16.4 on aarch64-unknown-linux-gnu, compiled by aarch64-unknown-linux-gnu-gcc",
        "EnterpriseDB 15.4.0 on x86_64-pc-linux-gnu",
    ])
    func `PostgreSQL and managed services that run it are accepted`(version: String) {
        #expect(ServerKind.otherProduct(in: version) == nil)
    }

    /// Amazon Aurora DSQL and Google Spanner call themselves PostgreSQL, and have no advisory locks.
    @Test(arguments: [
        ("pg_advisory_lock", "0A000"), ("pg_advisory_lock", "42883"), ("pg_try_advisory_lock", "0A000"),
    ])
    func `a server without advisory locks ends the start with the reason`(
        function: String, state: String
    ) async throws {
        let result = function == "pg_advisory_lock" ? "void" : "boolean"
        let detail = try await refusal(
            of: """
                CREATE FUNCTION other.\(function)(bigint) RETURNS \(result) LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'not supported' USING ERRCODE = '\(state)'; END
                $$;
                """)
        #expect(detail.contains("found a server without advisory locks (\(state))"), "\(detail)")
        #expect(detail.contains("use PostgreSQL 13 or newer"))
    }

    /// The functions of a schema before `pg_catalog` stand in for those of the other software.
    @Test(
        arguments: [
            ("version() RETURNS text", "'CockroachDB CCL v23.1.11 (x86_64)'", "found CockroachDB"),
            (
                "pg_try_advisory_lock(bigint) RETURNS boolean", "true",
                "found a server that gives one advisory lock to two sessions"
            ),
        ])
    func `a server that is not PostgreSQL ends the start with the reason`(
        function: String, result: String, reason: String
    ) async throws {
        let detail = try await refusal(
            of: "CREATE FUNCTION other.\(function) LANGUAGE sql AS $$ SELECT \(result) $$;")
        #expect(detail.contains(reason), "\(detail)")
    }

    /// Returns the detail with which the start ends at a server with these functions in the schema `other`.
    private func refusal(of functions: String) async throws -> String {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let name = String(try #require(url.split(separator: "/").last))
        try await cluster.superuserQuery(
            """
            CREATE SCHEMA other AUTHORIZATION siwa;
            \(functions)
            ALTER DATABASE \(name) SET search_path = other, pg_catalog, public;
            """, in: name)
        let error = await #expect(throws: StorageError.self) {
            _ = try await PostgresDatabase.open(url: url, patience: .zero, logger: .silent)
        }
        #expect(error?.code == .migrationFailed)
        return error?.detail ?? ""
    }
}
