import AppleAccounts
import AppleIdentity
import JOSE

/// What `siwa verify` found, check by check.
struct InspectionReport {
    enum Verdict {
        case accepted(Content)
        case refused(AppleTokenError)
        /// With the reason, in words.
        case undecided(String)
    }

    enum Content {
        case identity(VerifiedIdentity)
        case notification(VerifiedNotification)
    }

    enum Finding: String {
        case passed
        case failed
        case unknown
        case notAsked = "not asked"
        case notReached = "not reached"
    }

    let kind: TokenKind
    /// As the token says; untrusted.
    let keyID: String?
    let moment: Moment
    let verdict: Verdict
    let findings: [(step: VerificationStep, finding: Finding)]

    var text: String {
        var lines = ["\(kind.rawValue), judged as at \(moment.rfc3339)"]
        if let keyID { lines.append("key ID \(Self.shown(keyID))") }
        lines.append("")
        let width = findings.map(\.step.rawValue.count).max() ?? 0
        for (step, finding) in findings {
            let name = step.rawValue + String(repeating: " ", count: width - step.rawValue.count)
            lines.append("  \(name)  \(finding.rawValue)")
        }
        lines.append("")
        switch verdict {
        case .accepted(let content):
            lines += ["accepted"] + Self.members(of: content).map { "  \($0): \($1)" }
        case .refused(let error): lines.append("refused: \(error.code.rawValue)")
        case .undecided(let reason): lines.append("cannot say: \(reason)")
        }
        return lines.joined(separator: "\n")
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
        json.member("kid", ifPresent: keyID)
        json.member("at", moment.rfc3339)
        json.name("checks")
        json.beginArray()
        for (step, finding) in findings {
            json.element()
            json.beginObject()
            json.member("check", step.rawValue)
            json.member("result", finding.rawValue)
            json.endObject()
        }
        json.endArray()
        if case .accepted(let content) = verdict {
            json.name("claims")
            json.beginObject()
            for (name, value) in Self.members(of: content) {
                json.name(name)
                json.value(value)
            }
            json.endObject()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func members(of content: Content) -> [(String, String)] {
        switch content {
        case .identity(let identity):
            [
                ("iss", identity.issuer), ("sub", identity.subject), ("aud", identity.clientID),
                ("iat", Moment(seconds: identity.issuedAt.secondsSince1970).rfc3339),
                ("exp", Moment(seconds: identity.expiresAt.secondsSince1970).rfc3339),
            ]
        case .notification(let notification):
            [("aud", notification.clientID)]
                + notification.events.flatMap { event in
                    [("type", event.type)] + (event.subject.map { [("sub", $0)] } ?? [])
                }
        }
    }

    /// Untrusted text for a terminal: only what cannot steer one.
    private static func shown(_ text: String) -> String {
        String(text.unicodeScalars.map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
