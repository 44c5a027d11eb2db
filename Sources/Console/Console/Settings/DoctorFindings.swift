public import AppleAccounts

/// The latest `siwa doctor` findings for pages, with their age.
public struct DoctorFindings: Sendable {
    public enum Verdict: Sendable {
        case good, note, wrong, skipped
    }

    public struct Finding: Sendable {
        /// Name of the check, which is the same in every version.
        public let check: String
        public let verdict: Verdict
        /// The check's result. It contains no secret.
        public let text: String
        public let advice: String?

        public init(_ check: String, _ verdict: Verdict, _ text: String, advice: String? = nil) {
            (self.check, self.verdict, self.text, self.advice) = (check, verdict, text, advice)
        }
    }

    public let findings: [Finding]
    /// Time of the last run; `nil` before the first run has ended.
    public let checkedAt: Moment?
    public let isRunning: Bool

    public init(findings: [Finding], checkedAt: Moment?, isRunning: Bool) {
        (self.findings, self.checkedAt, self.isRunning) = (findings, checkedAt, isRunning)
    }

    public var wrong: [Finding] { findings.filter { $0.verdict == .wrong } }

    /// Returns the worst verdict of a check's findings; `nil` if the check has no finding yet.
    func verdict(of check: String) -> Verdict? {
        let verdicts = findings.filter { $0.check == check }.map(\.verdict)
        return [Verdict.wrong, .note, .skipped, .good].first { verdicts.contains($0) }
    }
}

/// Runs the `siwa doctor` checks for pages. A page that asks for findings never waits for a check.
public protocol DoctorFinding: Sendable {
    /// Returns the last findings, and starts a run if they are too old.
    func findings() -> DoctorFindings
    /// Starts a run, unless a run started a moment ago.
    func checkAgain()
}
