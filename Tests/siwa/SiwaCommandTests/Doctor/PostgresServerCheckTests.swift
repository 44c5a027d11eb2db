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

    @Test(
        arguments: [
            (PostgresStandbys(), []), (PostgresStandbys(connected: 2, synchronous: 0), [.note]),
            (PostgresStandbys(wanted: "a", connected: 1, synchronous: 1), [.good]),
            (PostgresStandbys(wanted: "a", connected: 1, synchronous: nil), [.note]),
            (PostgresStandbys(wanted: "a", connected: 0, synchronous: 0), [.wrong]),
            // Connected under another name.
            (PostgresStandbys(wanted: "a, b", connected: 1, synchronous: 0), [.wrong]),
            (PostgresStandbys(wanted: "ANY 2 (a, b, c)", connected: 1, synchronous: 1), [.wrong]),
            (PostgresStandbys(wanted: "FIRST 2 (a, b, c)", connected: 3, synchronous: 2), [.good]),
            (PostgresStandbys(wanted: "2(*)", connected: 2, synchronous: 2), [.good]),
        ] as [(PostgresStandbys, [Finding.Verdict])])
    func `finds missing standbys`(standbys: PostgresStandbys, verdicts: [Finding.Verdict]) {
        #expect(StandbyCheck(standbys: standbys).findings.map(\.verdict) == verdicts)
    }

    @Test(
        arguments: [
            ("", 0), ("a", 1), ("a, b", 1), ("FIRST 2 (a, b, c)", 2), ("ANY 3 (*)", 3), ("2 (a, b)", 2),
        ])
    func `reads how many standbys a commit waits for`(setting: String, required: Int) {
        #expect(PostgresStandbys(wanted: setting).required == required)
    }
}
