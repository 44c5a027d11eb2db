import AppleAccounts
import AppleIdentity
import StrictJSON

/// The output of `siwa verify`: the result of each check, and the content of the token.
struct InspectionReport {
    enum Verdict {
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

    enum Finding: String {
        case passed
        case failed
        case unknown
        case notAsked = "not asked"
        case notReached = "not reached"
    }

    let kind: TokenKind
    let moment: Moment
    let verdict: Verdict
    let findings: [(step: VerificationStep, finding: Finding)]
    let failures: [VerificationStep: Failure]
    let content: TokenContent

    /// The values of the check that decided.
    var comparison: CheckComparison? {
        verdict.errors.first.flatMap { failures[$0.step]?.comparison }
    }

    /// True if the signature is valid, even if a later check failed.
    var isSigned: Bool { findings.contains { $0.step == .signature && $0.finding == .passed } }

    var text: String {
        var lines = ["\(kind.rawValue), verified as of \(moment.rfc3339)", ""]
        let width = findings.map(\.step.rawValue.count).max() ?? 0
        for (step, finding) in findings {
            let name = step.rawValue + String(repeating: " ", count: width - step.rawValue.count)
            lines.append("  \(name)  \(finding.rawValue)")
            if finding == .failed, let failure = failures[step] {
                let indent = String(repeating: " ", count: width + 4)
                lines.append("\(indent)found     \(failure.comparison.found)")
                lines.append("\(indent)expected  \(failure.comparison.expected)")
                lines.append("\(indent)to do     \(failure.code.advice)")
            }
        }
        lines.append("")
        switch verdict {
        case .accepted: lines.append("accepted")
        case .refused(let error): lines.append("refused: \(error.code.rawValue)")
        case .undecided(let reason): lines.append("undecided: \(reason)")
        }
        lines += self.lines(of: content.header, titled: "header")
        lines += self.lines(of: content.claims, titled: isSigned ? "claims" : "claims, not verified")
        return lines.joined(separator: "\n")
    }

    private func lines(of object: JSONObject?, titled title: String) -> [String] {
        guard let object else { return [] }
        return ["", "\(title):"]
            + object.members.map {
                "  \(TokenContent.shown($0.name)): \(content.text($0.value, of: $0.name))"
            }
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        switch verdict {
        case .accepted: json.member("verdict", "accepted")
        case .refused(let error):
            json.member("verdict", "refused")
            json.member("code", error.code.rawValue)
        case .undecided(let reason):
            json.member("verdict", "undecided")
            json.member("reason", reason)
        }
        json.member("kind", kind.rawValue)
        json.member("at", moment.rfc3339)
        json.name("checks")
        json.beginArray()
        for (step, finding) in findings {
            json.element()
            json.beginObject()
            json.member("check", step.rawValue)
            json.member("result", finding.rawValue)
            if finding == .failed, let failure = failures[step] {
                json.member("code", failure.code.rawValue)
                json.member("found", failure.comparison.found)
                json.member("expected", failure.comparison.expected)
                json.member("advice", failure.code.advice)
            }
            json.endObject()
        }
        json.endArray()
        json.member("is_signed", isSigned)
        write(content.header, as: "header", to: &json)
        write(content.claims, as: "claims", to: &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Writes the object as it is in the token, or nothing when the object cannot be read.
    private func write(_ object: JSONObject?, as name: StaticString, to json: inout JSONWriter) {
        guard let object else { return }
        json.name(name)
        json.value(.object(object))
    }
}
