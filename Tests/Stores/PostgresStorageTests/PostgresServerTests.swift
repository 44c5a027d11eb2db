import Foundation
import PostgresCluster
import TestSupport
import Testing

@testable import PostgresStorage

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
