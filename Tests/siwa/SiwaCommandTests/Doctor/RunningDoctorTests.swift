import AppleAccounts
import Console
import PostgresStorage
import Synchronization
import TestSupport
import Testing

@testable import Composition

/// The checks of `siwa doctor` for the console.
@Suite struct RunningDoctorTests {
    /// A doctor whose runs end when a test lets them.
    private final class Trial: Sendable {
        let now = Mutex<Int64>(1_800_000_000_000)
        let begun = Mutex(0)
        let changes = Mutex(0)
        private let gate = Mutex<[CheckedContinuation<Void, Never>]>([])

        func doctor() -> RunningDoctor {
            RunningDoctor(
                now: { Moment(milliseconds: self.now.withLock { $0 }) },
                changed: { self.changes.withLock { $0 += 1 } },
                run: {
                    let number = self.begun.withLock { count in
                        count += 1
                        return count
                    }
                    await withCheckedContinuation { waiting in self.gate.withLock { $0.append(waiting) } }
                    return [DoctorFindings.Finding("run", number == 1 ? .wrong : .good, "run \(number)")]
                })
        }

        /// Lets the run that waits end, and waits for its result.
        func finishRun() async throws {
            let before = changes.withLock { $0 }
            try await eventually { !self.gate.withLock { $0.isEmpty } }
            for waiting in gate.withLock({ gate in
                defer { gate = [] }
                return gate
            }) { waiting.resume() }
            try await eventually { self.changes.withLock { $0 } > before }
        }

        func wait(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
    }

    @Test func `asking never waits, begins one run, and shows its findings later`() async throws {
        let trial = Trial()
        let doctor = trial.doctor()
        for _ in 0..<5 {
            let found = doctor.findings()
            #expect(found.isRunning && found.checkedAt == nil && found.findings.isEmpty)
        }
        trial.wait(1000)
        try await trial.finishRun()
        #expect(trial.begun.withLock { $0 } == 1)
        let found = doctor.findings()
        #expect(found.wrong.map(\.text) == ["run 1"])
        #expect(found.checkedAt?.milliseconds == trial.now.withLock { $0 })
        #expect(!found.isRunning)
    }

    @Test func `findings serve for half a minute, and an operator may ask again after five seconds`()
        async throws
    {
        let trial = Trial()
        let doctor = trial.doctor()
        _ = doctor.findings()
        try await trial.finishRun()
        trial.wait(4_999)
        doctor.checkAgain()
        #expect(!doctor.findings().isRunning)
        trial.wait(1)
        doctor.checkAgain()
        #expect(doctor.findings().isRunning)
        try await trial.finishRun()
        trial.wait(29_999)
        #expect(!doctor.findings().isRunning)
        trial.wait(1)
        // The old findings stay until the new ones are there.
        let found = doctor.findings()
        #expect(found.isRunning && found.findings.map(\.text) == ["run 2"])
        try await trial.finishRun()
        #expect(doctor.findings().findings.map(\.text) == ["run 3"])
    }

    @Test func `a clock that was set back does not stop the checks`() async throws {
        let trial = Trial()
        let doctor = trial.doctor()
        _ = doctor.findings()
        try await trial.finishRun()
        trial.wait(-3_600_000)
        #expect(doctor.findings().isRunning)
        try await trial.finishRun()
    }
}

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
            (Self.server { $0.version = 120_022 }, .wrong), (Self.server { $0.isReadOnly = true }, .wrong),
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
