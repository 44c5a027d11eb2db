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
    /// The values of the failed check.
    let comparison: CheckComparison?
    let content: TokenContent

    /// Whether the signature is valid, even if a later check failed.
    var isSigned: Bool { findings.contains { $0.step == .signature && $0.finding == .passed } }

    var text: String {
        var lines = ["\(kind.rawValue), verified as of \(moment.rfc3339)", ""]
        let width = findings.map(\.step.rawValue.count).max() ?? 0
        for (step, finding) in findings {
            let name = step.rawValue + String(repeating: " ", count: width - step.rawValue.count)
            lines.append("  \(name)  \(finding.rawValue)")
            if finding == .failed, let comparison {
                let indent = String(repeating: " ", count: width + 4)
                lines.append("\(indent)found     \(comparison.found)")
                lines.append("\(indent)expected  \(comparison.expected)")
            }
        }
        lines.append("")
        switch verdict {
        case .accepted: lines.append("accepted")
        case .refused(let error): lines.append("refused: \(error.code.rawValue)")
        case .undecided(let reason): lines.append("undecided: \(reason)")
        }
        lines += Self.lines(of: content.header, titled: "header")
        lines += Self.lines(
            of: content.claims, titled: isSigned ? "claims" : "claims, not verified")
        return lines.joined(separator: "\n")
    }

    private static func lines(of object: JSONObject?, titled title: String) -> [String] {
        guard let object else { return [] }
        return ["", "\(title):"]
            + object.members.map {
                "  \(TokenContent.shown($0.name)): \(TokenContent.text($0.value, of: $0.name))"
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
            if finding == .failed {
                json.member("found", ifPresent: comparison?.found)
                json.member("expected", ifPresent: comparison?.expected)
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

    /// Writes the object as it is in the token; nothing when it cannot be read.
    private func write(_ object: JSONObject?, as name: StaticString, to json: inout JSONWriter) {
        guard let object else { return }
        json.name(name)
        json.value(.object(object))
    }
}
