import AppleAccounts
import Console
import Synchronization
import TestSupport
import Testing

@testable import siwa

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
