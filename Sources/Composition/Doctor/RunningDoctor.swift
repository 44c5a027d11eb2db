import AppleAccounts
import Console
import Synchronization

/// Runs the checks of `siwa doctor` for the console, one run at a time, and only while a page is open.
///
/// A run sends requests to Apple and Google, so findings are reused for half a minute, also by many pages.
final class RunningDoctor: DoctorFinding {
    /// Milliseconds for which findings are reused.
    static let freshFor: Int64 = 30_000
    /// Milliseconds between two runs that operators request.
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
    ///   - changed: Called at the end of a run.
    ///   - run: Runs the checks.
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
        // Unstructured, because no request waits for the checks
        // or may cancel them. Every check has its own time limit.
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
