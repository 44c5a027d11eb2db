import AppAttestation
import AppleAccounts
import AppleIdentity
import Inspection
import StrictJSON

/// The result of an inspection, as the page shows it.
struct InspectedToken: Sendable {
    /// The answer to the question if the token is good now.
    enum Answer: String, Sendable {
        case good = "Yes"
        case bad = "No"
        case unknown = "It cannot be said"

        /// The class of the word in the style sheet.
        var style: String {
            switch self {
            case .good: "good"
            case .bad: "bad"
            case .unknown: "warn"
            }
        }
    }

    struct Check: Sendable {
        let name: String
        let result: String
        let style: String
        /// For a check that has passed.
        let found: String?
        let expected: String?
        let failure: Failure?
    }

    struct Failure: Sendable {
        let code: String
        let found: String
        let expected: String
        let advice: String
    }

    struct Section: Sendable {
        let title: String
        let members: [Member]
    }

    struct Member: Sendable {
        let name: String
        let text: String
        /// The account that the text is, for a link to its page.
        let account: String?

        init(name: String, text: String) {
            (self.name, self.text, account) = (name, text, AccountID(text)?.rawValue)
        }
    }

    /// The name of the kind, as in `siwa verify`.
    let kind: String
    private(set) var answer: Answer
    /// The reason, in sentences.
    private(set) var reasons: [String]
    /// The key that has signed; `nil` where no signature was verified.
    var signedBy: String?
    private(set) var hasChecks = false
    private(set) var checks: [Check] = []
    private(set) var sections: [Section] = []

    private static let allPassed = "Every check that applies has passed."

    private init(kind: String, answer: Answer, reasons: [String]) {
        (self.kind, self.answer, self.reasons) = (kind, answer, reasons)
    }

    /// - Parameter signer: The owner of the key.
    init(_ report: CheckReport, signer: String) {
        kind = report.kind
        let failed = report.checks.filter { $0.finding == .failed }
        switch report.verdict {
        case .accepted:
            (answer, reasons) = (.good, [Self.allPassed])
        case .refused(let code):
            let names = failed.map(\.name).joined(separator: ", ")
            (answer, reasons) = (.bad, ["It is refused with \(code). Failed: \(names)."])
            if let first = failed.first?.failure { reasons.append("Found: \(first.found).") }
        case .undecided(let reason):
            (answer, reasons) = (.unknown, ["\(reason)."])
        }
        let keyID = report.sections.first { $0.name == "header" }?.object["kid"]?.string
        if report.isSigned {
            signedBy = keyID.map { "key \(TokenContent.shown($0)) of \(signer)" } ?? signer
        } else if report.sections.contains(where: { $0.name == "claims" || $0.name == "content" }) {
            reasons.append("No signature was verified, so anyone can have written the content below.")
        }
        let passed = PassedCheck(report)
        checks = report.checks.map { Check($0, passed) }
        hasChecks = true
        sections = report.sections.map { section in
            Section(
                title: section.title,
                members: zip(section.object.members, section.texts).map {
                    Member(name: TokenContent.shown($0.name), text: $1)
                })
        }
        if let section = report.sections.first(where: { $0.name == "claims" }),
            let text = Self.expiry(section.object, report.moment)
        {
            reasons.append(text)
        }
        if let text = report.droppedText {
            reasons.append("\(text.prefix(1).uppercased())\(text.dropFirst()).")
        }
    }

    /// Adds a reason, with which a good token stays good.
    mutating func note(_ reason: String) { reasons.append(reason) }

    /// Adds a reason for which no token of this kind is good.
    mutating func refuse(_ reason: String) {
        answer = .bad
        reasons.removeAll { $0 == Self.allPassed }
        reasons.append(reason)
    }

    /// Adds a row for what the token itself does not say, and the database does.
    mutating func addCheck(
        _ name: String, hasPassed: Bool, code: String, found: String, expected: String, advice: String
    ) {
        checks.append(
            Check(
                name: name, result: hasPassed ? "passed" : "failed", style: hasPassed ? "good" : "bad",
                found: found, expected: expected,
                failure: hasPassed
                    ? nil : Failure(code: code, found: found, expected: expected, advice: advice)))
    }

    mutating func addSection(_ section: Section) { sections.append(section) }

    private static func expiry(_ claims: JSONObject, _ moment: Moment) -> String? {
        let now = NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000)
        guard let end = claims["exp"]?.integer.flatMap({ NumericDate(secondsSince1970: $0) }) else {
            return nil
        }
        let distance = end.distance(from: now)
        return end.secondsSince1970 > now.secondsSince1970
            ? "It expires \(distance)." : "It expired \(distance)."
    }

    /// Adds the state of the user's credential: a genuine token can come from a user who has left since.
    ///
    /// - Parameters:
    ///   - account: `nil` for a user without an account here.
    ///   - authenticatedAt: Seconds since 1970 of the user's authentication, from the token.
    mutating func add(
        _ credential: Credential, of account: AccountID?, authenticatedAt: Int64, at now: Moment
    ) {
        var members = account.map { [Member(name: "account", text: $0.rawValue)] } ?? []
        members.append(Member(name: "app", text: credential.clientID.rawValue))
        members.append(Member(name: "state", text: credential.state.rawValue))
        if let reason = credential.reason { members.append(Member(name: "reason", text: reason.rawValue)) }
        if let since = credential.since { members.append(Member(name: "since", text: since.rfc3339)) }
        sections.append(Section(title: "credential of the user here", members: members))
        let isOlder = credential.since.map { authenticatedAt <= $0.milliseconds / 1000 } ?? true
        addCheck(
            "credential", hasPassed: credential.state != .revoked || !isOlder, code: "credential_revoked",
            found: credential.state.rawValue,
            expected: "authorized or not known yet, or a token that is younger than the end",
            advice: "The user must sign in again.")
        switch credential.state {
        case .authorized: reasons.append("The user's credential is authorized here.")
        case .notFound: reasons.append("The user has not signed in to this app here yet.")
        case .revoked:
            guard isOlder else {
                reasons.append("The user's credential is revoked; this token is younger and signs in again.")
                return
            }
            refuse(
                "The token is older than the end of the user's credential "
                    + "(\(credential.reason?.rawValue ?? "revoked")), so it opens nothing any more.")
        }
        if let until = credential.disabledUntil, now < until { refuse("The account is disabled here.") }
    }
}

extension InspectedToken {
    static func opaque(_ kind: OpaqueAppleKind) -> InspectedToken {
        let reason =
            switch kind {
            case .authorizationCode:
                "Apple alone knows this code, and asking uses it up: it is for one use within five minutes. Give "
                    + "the identity token that came with it, and this code beside it, to compare the two."
            case .refreshToken:
                "Apple alone knows this refresh token. The daily check asks Apple for the tokens that are held here."
            case .accessToken:
                "Apple alone knows this access token. Give the identity token that came with it, and this token "
                    + "beside it, to compare the two."
            }
        return InspectedToken(kind: kind.rawValue, answer: .unknown, reasons: [reason])
    }

    static let unknown = InspectedToken(
        kind: "unknown", answer: .unknown,
        reasons: [
            "This is no token, code or object that this service knows. Give it as it was sent, with nothing cut "
                + "off and nothing around it."
        ])

    static let unknownKey = InspectedToken(
        kind: AppAttestationKind.assertion.rawValue, answer: .bad,
        reasons: ["No attested key of this app has this key ID here."])

    static func incompleteObject(_ kind: AppAttestationKind) -> InspectedToken {
        InspectedToken(
            kind: kind.rawValue, answer: .unknown,
            reasons: [
                "An object of App Attest is compared with the bundle ID, the key ID and the challenge of the app, an "
                    + "attestation with its environment too. Give them below the field."
            ])
    }
}

extension InspectedToken.Check {
    init(_ check: CheckReport.Check, _ passed: PassedCheck) {
        name = check.name
        let values = check.finding == .passed ? passed.values(of: check.name) : nil
        (found, expected) = (values?.found, values?.expected)
        result = check.finding.rawValue
        style =
            switch check.finding {
            case .passed: "good"
            case .failed: "bad"
            case .unknown: "warn"
            case .notAsked, .notReached: "muted"
            }
        failure = check.failure.map {
            InspectedToken.Failure(
                code: $0.code, found: $0.found, expected: $0.expected, advice: $0.advice)
        }
    }
}
