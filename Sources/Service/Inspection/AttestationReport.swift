package import AppAttestation
import AppleAccounts
import StrictJSON

/// The result for an object of App Attest: the result of each check, and the content of the
/// object.
package struct AttestationReport {
    let expectation: AttestationInspection.Expectation
    let moment: Moment
    /// `nil` when the object is accepted.
    package let error: AppAttestationError?
    /// `nil` when the object cannot be read.
    let content: AttestationContent?
    /// `nil` for an assertion, and when the attestation was refused.
    let receipt: ReceiptFinding?

    private var kind: AppAttestationKind { expectation.kind }

    /// The result of each step. The verifier stops at the first step that fails.
    var findings: [(step: AppAttestationStep, finding: CheckReport.Finding)] {
        let steps = AppAttestationStep.steps(for: kind)
        let failed = error.flatMap { steps.firstIndex(of: $0.step) } ?? steps.count
        return steps.enumerated().map { index, step in
            let passed: CheckReport.Finding = wasAsked(step) ? .passed : .notAsked
            return (step, index < failed ? passed : index == failed ? .failed : .notReached)
        }
    }

    /// True unless the step is only for apps of another platform.
    private func wasAsked(_ step: AppAttestationStep) -> Bool {
        guard step == .keyPolicy, case .attestation(_, let platform, _, _) = expectation else { return true }
        return platform == .macOS
    }

    /// True if the content is signed, even if a later check failed: by Apple through the nonce of the
    /// certificate, or by the key.
    var isSigned: Bool {
        findings.contains { step, finding in
            switch kind {
            case .attestation: step == .nonce && finding == .passed
            case .assertion: step == .signature && finding == .passed
            }
        }
    }

    package var text: String { form.text }

    package var json: String { form.json }

    package var form: CheckReport {
        CheckReport(
            kind: kind.rawValue, moment: moment,
            verdict: error.map { .refused($0.code.rawValue) } ?? .accepted,
            checks: findings.map { step, finding in
                CheckReport.Check(
                    name: step.rawValue, finding: finding, failure: finding == .failed ? failure : nil)
            } + receiptChecks, isSigned: isSigned, sections: sections)
    }

    private var sections: [CheckReport.Section] {
        var sections: [CheckReport.Section] = []
        if let content {
            sections.append(
                CheckReport.Section(
                    name: "content", title: isSigned ? "content" : "content, not verified",
                    object: content.object, texts: content.texts))
        }
        if let receipt = receipt?.content {
            sections.append(
                CheckReport.Section(
                    name: "receipt", title: "receipt", object: receipt,
                    texts: receipt.members.map { TokenContent.shown($0.value.string ?? "") }))
        }
        return sections
    }

    /// They follow the checks of the attestation, and do not change the verdict.
    private var receiptChecks: [CheckReport.Check] {
        switch kind {
        case .assertion: return []
        case .attestation:
            let error = receipt?.error
            return ReceiptFinding.findings(of: receipt).map { step, finding in
                CheckReport.Check(
                    name: step.rawValue, finding: finding,
                    failure: finding == .failed ? error.map(Self.failure) : nil)
            }
        }
    }

    private static func failure(_ error: ReceiptError) -> CheckReport.Failure {
        CheckReport.Failure(
            code: error.code.rawValue, found: TokenContent.shown(error.found),
            expected: TokenContent.shown(error.expected), advice: error.code.advice)
    }

    private var failure: CheckReport.Failure? {
        error.map { error in
            CheckReport.Failure(
                code: error.code.rawValue, found: TokenContent.shown(error.found),
                expected: TokenContent.shown(error.expected), advice: error.code.advice)
        }
    }
}
