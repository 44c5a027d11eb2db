import AppleAccounts
import Console
import Synchronization

/// Runs the `siwa doctor` checks for the console while a page is open. Only one run is active at a time.
///
/// A run sends requests to Apple and Google, so all open pages share its findings for half a minute.
final class RunningDoctor: DoctorFinding {
    /// Lifetime of findings, in milliseconds.
    static let freshFor: Int64 = 30_000
    /// Minimum time between two runs that operators request, in milliseconds.
    static let pause: Int64 = 5_000

    private struct State {
        var findings: [DoctorFindings.Finding] = []
        var checkedAt: Moment?
        var begunAt: Moment?
        var isRunning = false
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Moment
    private let run: @Sendable () async -> [DoctorFindings.Finding]
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - changed: Called when a run ends.
    ///   - run: Performs all checks.
    init(
        now: @escaping @Sendable () -> Moment, changed: @escaping @Sendable () -> Void,
        run: @escaping @Sendable () async -> [DoctorFindings.Finding]
    ) {
        (self.now, self.changed, self.run) = (now, changed, run)
    }

    func findings() -> DoctorFindings {
        begin(unlessYoungerThan: Self.freshFor)
        return state.withLock {
            DoctorFindings(findings: $0.findings, checkedAt: $0.checkedAt, isRunning: $0.isRunning)
        }
    }

    func checkAgain() { begin(unlessYoungerThan: Self.pause) }

    private func begin(unlessYoungerThan age: Int64) {
        let now = now()
        let begins = state.withLock { state in
            guard !state.isRunning else { return false }
            if let begunAt = state.begunAt, (0..<age).contains(now.milliseconds - begunAt.milliseconds) {
                return false
            }
            (state.isRunning, state.begunAt) = (true, now)
            return true
        }
        guard begins else { return }
        // The task is unstructured, because no request waits for the checks or may cancel them. Each check
        // has its own time limit.
        Task {
            let findings = await run()
            let now = self.now()
            state.withLock { state in
                (state.findings, state.checkedAt, state.isRunning) = (findings, now, false)
            }
            changed()
        }
    }
}

extension DoctorFindings.Finding {
    init(_ finding: Finding) {
        let verdict: DoctorFindings.Verdict =
            switch finding.verdict {
            case .good: .good
            case .note: .note
            case .wrong: .wrong
            case .skipped: .skipped
            }
        self.init(finding.check, verdict, finding.text, advice: finding.advice)
    }
}
