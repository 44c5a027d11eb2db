package import AppleAccounts
package import Encodings
package import StrictJSON

/// A report about an input of any kind, available as text and as JSON.
package struct CheckReport {
    package enum Verdict {
        case accepted
        /// The input is refused with this code.
        case refused(String)
        /// The input could not be verified for this reason.
        case undecided(String)
    }

    package enum Finding: String {
        case passed
        case failed
        case unknown
        case notAsked = "not asked"
        case notReached = "not reached"
    }

    /// A check and its result.
    package struct Check {
        package let name: String
        package let finding: Finding
        /// Details of the failure; `nil` if the check did not fail.
        package let failure: Failure?
    }

    package struct Failure {
        package let code: String
        package let found: String
        package let expected: String
        package let advice: String
    }

    /// A part of the input's content.
    package struct Section {
        /// The name of the section's JSON member.
        package let name: String
        package let title: String
        package let object: JSONObject
        /// The text of each member, without control characters.
        package let texts: [String]
    }

    package let kind: String
    package let moment: Moment
    package let verdict: Verdict
    package let checks: [Check]
    /// True if the signature is valid, even if a later check failed.
    package let isSigned: Bool
    package let sections: [Section]
    /// Tolerated clock skew between the issuer and this machine, in seconds; `nil` if no time is checked.
    package var leeway: Int64?
    /// Names of claims that were dropped because they are malformed. They affect no decision.
    package var dropped: [String] = []

    /// A sentence about the dropped claims; `nil` if no claim was dropped.
    package var droppedText: String? {
        dropped.isEmpty
            ? nil
            : "dropped, because the form is wrong and nothing depends on it: \(dropped.joined(separator: ", "))"
    }

    package var text: String { text(in: .plain) }

    package func text(in layout: TextLayout) -> String {
        let leeway = leeway.map { $0 == 0 ? ", without leeway" : ", with \($0) seconds of leeway" } ?? ""
        var lines = ["\(kind), verified as of \(moment.rfc3339)\(leeway)", ""]
        let width = checks.map(\.name.count).max() ?? 0
        for check in checks {
            let name = check.name + String(repeating: " ", count: width - check.name.count)
            lines.append("  \(name)  \(layout.styled(check.finding.rawValue, check.finding.style))")
            if let failure = check.failure { lines += failure.lines(beside: width + 4, in: layout) }
        }
        lines.append("")
        switch verdict {
        case .accepted: lines.append(layout.styled("accepted", .good))
        case .refused(let code): lines.append(layout.styled("refused: \(code)", .bad))
        case .undecided(let reason):
            lines += layout.wrapped("undecided: \(reason)").map { layout.styled($0, .warning) }
        }
        if let droppedText {
            lines += layout.wrapped(droppedText).map { layout.styled($0, .warning) }
        }
        for section in sections {
            lines += ["", layout.styled("\(section.title):", .strong)]
            lines += zip(section.object.members, section.texts).flatMap { member, text in
                layout.wrapped("\(TokenContent.shown(member.name)): \(text)", indent: 2, hanging: 6)
            }
        }
        return lines.joined(separator: "\n")
    }

    package var json: String {
        var json = JSONWriter()
        json.beginObject()
        switch verdict {
        case .accepted: json.member("verdict", "accepted")
        case .refused(let code):
            json.member("verdict", "refused")
            json.member("code", code)
        case .undecided(let reason):
            json.member("verdict", "undecided")
            json.member("reason", reason)
        }
        json.member("kind", kind)
        json.member("at", moment.rfc3339)
        if let leeway { json.member("leeway_seconds", leeway) }
        json.name("checks")
        json.beginArray()
        for check in checks {
            json.element()
            json.beginObject()
            json.member("check", check.name)
            json.member("result", check.finding.rawValue)
            if let failure = check.failure {
                json.member("code", failure.code)
                json.member("found", failure.found)
                json.member("expected", failure.expected)
                json.member("advice", failure.advice)
            }
            json.endObject()
        }
        json.endArray()
        json.member("is_signed", isSigned)
        json.member("dropped", ifAny: dropped)
        for section in sections {
            json.name(section.name)
            json.value(.object(section.object))
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension CheckReport.Finding {
    fileprivate var style: TextLayout.Style {
        switch self {
        case .passed: .good
        case .failed: .bad
        case .unknown: .warning
        case .notAsked, .notReached: .faint
        }
    }
}

extension CheckReport.Failure {
    private static let label = "expected".count + 2

    /// - Parameter indent: Width of the column with the check names.
    fileprivate func lines(beside indent: Int, in layout: TextLayout) -> [String] {
        // Beside a long name, the text column is too narrow for labels.
        let isNarrow = layout.columns.map { $0 - indent - Self.label < 24 } ?? false
        let margin = String(repeating: " ", count: isNarrow ? 4 : indent)
        return [("found", found), ("expected", expected), ("to do", advice)].flatMap { name, text in
            let label = name + String(repeating: " ", count: Self.label - name.count)
            return layout.row(margin + label, styled: margin + layout.styled(label, .faint), text)
        }
    }
}
