import PostgresStorage
import Testing

@testable import siwa

@Suite struct PostgresServerCheckTests {
    static func server(_ change: (inout PostgresServer) -> Void = { _ in }) -> PostgresServer {
        var server = PostgresServer(
            version: 150_018, synchronousCommit: "on", isSafeOnPowerLoss: true,
            isReadOnly: false, mostConnections: 97, connections: 1)
        change(&server)
        return server
    }

    @Test func `finds no error with a good server`() {
        let check = PostgresServerCheck(server: Self.server(), connections: 9)
        #expect(check.findings == [.good("PostgreSQL", "version 15.18")])
    }

    @Test(
        arguments: [
            (Self.server { $0.version = 120_022 }, .wrong),
            (Self.server { $0.isReadOnly = true }, .wrong),
            (Self.server { $0.isSafeOnPowerLoss = false }, .wrong),
            (Self.server { $0.synchronousCommit = "off" }, .note),
            (Self.server { $0.connections = 89 }, .note), (Self.server { $0.clockLead = 5000 }, .note),
            (Self.server { $0.clockLead = -5000 }, .note),
            (Self.server { ($0.mostConnections, $0.connections) = (3, 8) }, .note),
        ] as [(PostgresServer, Finding.Verdict)])
    func `finds each unsuitable setting`(server: PostgresServer, verdict: Finding.Verdict) {
        let findings = PostgresServerCheck(server: server, connections: 9).findings
        #expect(findings.map(\.verdict) == [verdict])
    }

    @Test(arguments: [4999, -4999] as [Int64])
    func `small clock differences are accepted`(lead: Int64) {
        let server = Self.server { $0.clockLead = lead }
        #expect(PostgresServerCheck(server: server, connections: 9).findings.map(\.verdict) == [.good])
    }

    @Test func `connections for one replica are enough`() {
        let server = Self.server { $0.connections = 88 }
        #expect(PostgresServerCheck(server: server, connections: 9).findings.map(\.verdict) == [.good])
    }
}
