import AppleAccounts
import Foundation
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

@Suite struct PostgresServerTests {
    @Test func `counts the connections of other roles, and compares clocks`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.superuserQuery("CREATE ROLE other LOGIN PASSWORD '\(PostgresCluster.password)'")
        let url = try await cluster.makeDatabase()
        let others = PostgresPool(
            try PostgresURL(url.replacing("//siwa:", with: "//other:")), connections: 1)
        try await others.run { _ = try $0.run(PostgresCall(PostgresStatement("test_one", "SELECT 1"))) }
        let inspection = try PostgresInspection(url: url)
        let server = try await inspection.server()
        #expect(server.connections >= 2)
        #expect(server.clockLead.magnitude < 5000)
        await inspection.close()
        await others.close()
        try await cluster.remove()
    }

    #if os(Linux)
        @Test func `a server that was killed leaves no shared memory when it is discarded`() async throws {
            let cluster = try await PostgresCluster.start(fsync: false)
            let files = try String(
                contentsOfFile: "\(cluster.directory)/data/postmaster.pid", encoding: .utf8)
            // The key and the ID of the segment (PostgreSQL's `src/include/utils/pidfile.h`).
            let segment = try #require(files.split(separator: "\n")[6].split(separator: " ").last)
            func segments() throws -> [Substring] {
                try String(contentsOfFile: "/proc/sysvipc/shm", encoding: .utf8).split(separator: "\n")
                    .compactMap { $0.split(separator: " ").dropFirst().first }
            }
            #expect(try segments().contains(segment))
            try cluster.kill()
            cluster.discard()
            try await eventually { try !segments().contains(segment) }
        }
    #endif

    @Test func `sees synchronous standbys when the role may`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        let url = try await cluster.makeDatabase()
        func standbys() async throws -> PostgresStandbys {
            let inspection = try PostgresInspection(url: url)
            let server = try await inspection.server()
            await inspection.close()
            return server.standbys
        }
        #expect(try await standbys() == PostgresStandbys())
        let standby = try await cluster.makeStandby(name: "second")
        try await cluster.commitAtStandbys("second")
        #expect(try await standbys() == PostgresStandbys(wanted: "second", connected: 1, synchronous: nil))
        try await cluster.superuserQuery("GRANT pg_monitor TO siwa")
        #expect(try await standbys() == PostgresStandbys(wanted: "second", connected: 1, synchronous: 1))
        try await standby.stop(.immediate)
        #expect(await recovers { if try await standbys().connected > 0 { throw CancellationError() } })
        #expect(try await standbys() == PostgresStandbys(wanted: "second", connected: 0, synchronous: 0))
        try await cluster.setSynchronousStandbys("")
        standby.discard()
        try await cluster.remove()
    }
}

@Suite struct PostgresURLTests {
    @Test(
        arguments: [
            "postgres://user:secret@host/db", "postgresql://host",
            "postgres://user@/db?host=/var/run/postgresql",
            "postgres://u:se%40cr%2Fet@a:1,b:2/db?target_session_attrs=read-write&sslmode=verify-full",
            "postgres:///db?user=u&password=secret", "postgres://u:p?q@host/db",
        ])
    func `takes what libpq takes`(text: String) throws {
        #expect(try PostgresURL(text).text == text)
    }

    @Test(
        arguments: [
            "", "secret", "postgres:", "mysql://u:secret@host/db", "host=x password=secret",
            // A character of the password that must be encoded.
            "postgres://u:sec@ret@host/db", "postgres://u:sec/ret@host/db", "postgres://u:sec%ret@host/db",
            "postgres://u:secret", "postgres://host:secret/db", "postgres://u:secret@host/db?nosuch=secret",
            "postgres://u:secret@[::1/db", "postgres://u:secret\u{0}@host/db",
        ])
    func `refuses what can be misread`(text: String) {
        #expect(throws: PostgresAddress.Refusal.malformed) { _ = try PostgresURL(text) }
    }

    @Test func `takes a password out of a message`() throws {
        let url = try PostgresURL("postgres://u:se%40cret@host/db")
        #expect(url.scrub("no se@cret here") == "no [password] here")
        #expect(try PostgresURL("postgres://u@host/db").scrub("as it is") == "as it is")
    }

    @Test func `knows whether there are several hosts`() throws {
        #expect(try PostgresURL("postgres://a,b/db").hasSeveralHosts)
        #expect(try PostgresURL("postgres:///db?hostaddr=10.0.0.1,10.0.0.2").hasSeveralHosts)
        #expect(try !PostgresURL("postgres://a/db?hostaddr=10.0.0.1").hasSeveralHosts)
    }
}

@Suite struct PostgresRefusalTests {
    private static func refusal(_ url: String) throws -> PostgresRefusal? {
        PostgresRefusal.find(at: try PostgresAddress(url))
    }

    @Test func `tells a wrong password, a missing one and a missing database apart`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        #expect(try Self.refusal(url) == nil)
        #expect(
            try Self.refusal(url.replacing(PostgresCluster.password, with: "wr0ng-one")) == .passwordWrong)
        #expect(
            try Self.refusal(url.replacing(":\(PostgresCluster.password)@", with: "@")) == .passwordMissing)
        #expect(try Self.refusal(cluster.url(of: "no_such_database")) == .databaseMissing)
        // PostgreSQL does not say whether there is such a user.
        #expect(try Self.refusal(url.replacing("//siwa:", with: "//stranger:")) == .passwordWrong)
    }

    /// Uses a name that a resolver refuses without a query.
    @Test func `an unknown host is named, if no other host can be found`() throws {
        #expect(try Self.refusal("postgres://siwa@no%20such%20host/siwa") == .unknownHost("no such host"))
        #expect(try Self.refusal("postgres://siwa@no%20such%20host,127.0.0.1:9/siwa") == nil)
    }

    @Test func `a server that is away is no mistake`() throws {
        #expect(try Self.refusal("postgres://siwa:secret@127.0.0.1:9/siwa") == nil)
        #expect(try Self.refusal("postgres:///siwa?host=/nonexistent") == nil)
    }
}
