import PostgresCluster
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
}
