import Encodings
import StrictJSON

/// The results of `siwa doctor`.
struct DoctorReport {
    let findings: [Finding]
    /// Values that the operator registers, and where.
    var registrations: [String] = []

    var isHealthy: Bool { !findings.contains { $0.verdict == .wrong } }

    var text: String { text(in: .plain) }

    func text(in layout: TextLayout) -> String {
        let width = findings.map(\.check.count).max() ?? 0
        let indent = 2 + 7 + 2 + width + 2
        var lines: [String] = []
        for finding in findings {
            let verdict = Self.padded(finding.verdict.rawValue, to: 7)
            let check = "  \(Self.padded(finding.check, to: width))  "
            lines += layout.row(
                "  \(verdict)\(check)", styled: "  \(layout.styled(verdict, finding.verdict.style))\(check)",
                finding.text)
            for line in finding.advice?.split(separator: "\n") ?? [] {
                lines += layout.beneath(indent, String(line))
            }
        }
        if !registrations.isEmpty {
            lines += ["", "Register, if that is not done yet:"]
            lines += registrations.flatMap { layout.wrapped($0, indent: 2, hanging: 6) }
        }
        return (lines + ["", layout.styled(summary, isHealthy ? .good : .bad)]).joined(separator: "\n")
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("healthy", isHealthy)
        json.name("checks")
        json.beginArray()
        for finding in findings {
            json.element()
            json.beginObject()
            json.member("check", finding.check)
            json.member("result", finding.verdict.rawValue)
            json.member("text", finding.text)
            json.member("advice", ifPresent: finding.advice)
            json.endObject()
        }
        json.endArray()
        json.name("register")
        json.beginArray()
        for line in registrations {
            json.element()
            json.value(.string(line))
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private var summary: String {
        let wrong = findings.count { $0.verdict == .wrong }
        let skipped = findings.count { $0.verdict == .skipped }
        let after = skipped == 0 ? "" : ", \(skipped) not checked"
        switch wrong {
        case 0: return "Nothing is wrong\(after)."
        case 1: return "One thing is wrong\(after)."
        default: return "\(wrong) things are wrong\(after)."
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension Finding.Verdict {
    fileprivate var style: TextLayout.Style {
        switch self {
        case .good: .good
        case .note: .warning
        case .wrong: .bad
        case .skipped: .faint
        }
    }
}
