import AppleAccounts
package import AppleIdentity
import StrictJSON

/// The result for a token of Apple's: the result of each check, and the content of the token.
package struct InspectionReport {
    package enum Verdict {
        case accepted
        case refused(AppleTokenError)
        /// The token could not be verified, for this reason.
        case undecided(String)

        var errors: [AppleTokenError] {
            if case .refused(let error) = self { [error] } else { [] }
        }
    }

    /// A failed check and its reason.
    struct Failure {
        let code: AppleTokenError.Code
        let comparison: CheckComparison
    }

    let kind: TokenKind
    let moment: Moment
    let leeway: Int64
    package let verdict: Verdict
    let findings: [(step: VerificationStep, finding: CheckReport.Finding)]
    let failures: [VerificationStep: Failure]
    let content: TokenContent
    /// The claims that are dropped for their form.
    let dropped: DroppedClaims

    /// The values of the check that decided.
    var comparison: CheckComparison? {
        verdict.errors.first.flatMap { failures[$0.step]?.comparison }
    }

    /// True if the signature is valid, even if a later check failed.
    var isSigned: Bool { findings.contains { $0.step == .signature && $0.finding == .passed } }

    package var text: String { form.text }

    package var json: String { form.json }

    package var form: CheckReport {
        let verdict: CheckReport.Verdict =
            switch self.verdict {
            case .accepted: .accepted
            case .refused(let error): .refused(error.code.rawValue)
            case .undecided(let reason): .undecided(reason)
            }
        return CheckReport(
            kind: kind.rawValue, moment: moment, verdict: verdict,
            checks: findings.map { step, finding in
                CheckReport.Check(
                    name: step.rawValue, finding: finding,
                    failure: finding == .failed ? failures[step].map(failure) : nil)
            }, isSigned: isSigned,
            sections: [
                section(content.header, named: "header", titled: "header"),
                section(
                    content.claims, named: "claims", titled: isSigned ? "claims" : "claims, not verified"),
            ].compactMap { $0 }, leeway: leeway, dropped: dropped.names)
    }

    private func failure(_ failure: Failure) -> CheckReport.Failure {
        CheckReport.Failure(
            code: failure.code.rawValue, found: failure.comparison.found,
            expected: failure.comparison.expected, advice: failure.code.advice)
    }

    /// Returns the object as it is in the token, or `nil` when the object cannot be read.
    private func section(_ object: JSONObject?, named name: String, titled title: String) -> CheckReport
        .Section?
    {
        guard let object else { return nil }
        return CheckReport.Section(
            name: name, title: title, object: object,
            texts: object.members.map { content.text($0.value, of: $0.name) })
    }
}
