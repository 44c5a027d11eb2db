public import AppleAccounts

/// The findings of `siwa doctor` for pages: the last ones, and how old they are.
public struct DoctorFindings: Sendable {
    public enum Verdict: Sendable {
        case good, note, wrong, skipped
    }

    public struct Finding: Sendable {
        /// The name of the check. It is the same in every version.
        public let check: String
        public let verdict: Verdict
        /// The result. Contains nothing secret.
        public let text: String
        public let advice: String?

        public init(_ check: String, _ verdict: Verdict, _ text: String, advice: String? = nil) {
            (self.check, self.verdict, self.text, self.advice) = (check, verdict, text, advice)
        }
    }

    public let findings: [Finding]
    /// `nil` before the first run has ended.
    public let checkedAt: Moment?
    public let isRunning: Bool

    public init(findings: [Finding], checkedAt: Moment?, isRunning: Bool) {
        (self.findings, self.checkedAt, self.isRunning) = (findings, checkedAt, isRunning)
    }

    public var wrong: [Finding] { findings.filter { $0.verdict == .wrong } }

    /// The worst verdict of a check's findings; `nil` if the check has no finding yet.
    func verdict(of check: String) -> Verdict? {
        let verdicts = findings.filter { $0.check == check }.map(\.verdict)
        return [Verdict.wrong, .note, .skipped, .good].first { verdicts.contains($0) }
    }
}

/// Runs the checks of `siwa doctor` for pages. Asking never waits for a check.
public protocol DoctorFinding: Sendable {
    /// Returns the last findings, and begins a run when they are too old.
    func findings() -> DoctorFindings
    /// Begins a run, unless one began a moment ago.
    func checkAgain()
}
