import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Inspection
import Pages
import StrictJSON

/// The outcome of an inspection, as the page shows it.
struct InspectedToken: Sendable {
    /// The verdict: the token is valid now, it is not valid, or the service cannot judge it.
    enum Answer: String, Sendable {
        case good = "Yes"
        case bad = "No"
        case unknown = "It cannot be said"

        /// CSS class for the verdict.
        var style: String {
            switch self {
            case .good: "good"
            case .bad: "bad"
            case .unknown: "warn"
            }
        }
    }

    /// Kind of token, named as in `siwa verify`.
    let kind: String
    private(set) var answer: Answer
    /// The reasons for the verdict, in sentences.
    private(set) var reasons: [String]
    /// The key that signed the token; `nil` if no signature was verified.
    private(set) var signedBy: String?
    /// Check rows: name, result, value found, and value expected.
    private(set) var checks: [[HTML]] = []
    private(set) var sections: [(title: String, members: [Fact])] = []

    private static let allPassed = "Every check that applies has passed."

    private init(kind: String, answer: Answer, reasons: [String]) {
        (self.kind, self.answer, self.reasons) = (kind, answer, reasons)
    }

    /// - Parameter signer: Owner of the signing key.
    init(_ report: CheckReport, signer: String) {
        kind = report.kind
        let failed = report.checks.filter { $0.finding == .failed }
        switch report.verdict {
        case .accepted: (answer, reasons) = (.good, [Self.allPassed])
        case .refused(let code):
            let names = failed.map(\.name).joined(separator: ", ")
            (answer, reasons) = (.bad, ["It is refused with \(code). Failed: \(names)."])
            if let first = failed.first?.failure { reasons.append("Found: \(first.found).") }
        case .undecided(let reason): (answer, reasons) = (.unknown, ["\(reason)."])
        }
        let keyID = report.sections.first { $0.name == "header" }?.object["kid"]?.string
        if report.isSigned {
            signedBy = keyID.map { "key \(TokenContent.shown($0)) of \(signer)" } ?? signer
        } else if report.sections.contains(where: { $0.name == "claims" || $0.name == "content" }) {
            reasons.append("No signature was verified, so anyone can have written the content below.")
        }
        for check in report.checks {
            // The report contains values only for failed checks. The values of passed checks come from the
            // token's content.
            let passed = check.finding == .passed ? report.compared(by: check.name) : nil
            addRow(
                check.name, check.finding, found: check.failure?.found ?? passed?.found ?? "",
                expected: check.failure?.expected ?? passed?.expected ?? "",
                failure: check.failure.map { ($0.code, $0.advice) })
        }
        sections = report.sections.map { section in
            (
                section.title,
                zip(section.object.members, section.texts).map {
                    Self.member(TokenContent.shown($0.name), $1)
                }
            )
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

    /// Adds a reason that does not change the verdict.
    mutating func note(_ reason: String) { reasons.append(reason) }

    /// Adds a reason that makes the token invalid.
    mutating func refuse(_ reason: String) {
        answer = .bad
        reasons.removeAll { $0 == Self.allPassed }
        reasons.append(reason)
    }

    private mutating func addRow(
        _ name: String, _ finding: CheckReport.Finding, found: String, expected: String,
        failure: (code: String, advice: String)?
    ) {
        let result = HTML.span(finding.look, .text(finding.rawValue))
        checks.append([
            .text(name), "\(result)\(failure.map { "<br>\(HTML.code($0.code))" as HTML })", .text(found),
            "\(expected)\(failure.map { "<br>\(HTML.muted($0.advice))" as HTML })",
        ])
    }

    /// Returns a line in a section. An account ID links to the account's page.
    private static func member(_ name: String, _ text: String) -> Fact {
        let account = AccountID(text)?.rawValue
        return Fact(.code(name), account.map { .link(.text($0), to: "/console/people/\($0)") } ?? .text(text))
    }

    private mutating func addSection(_ title: String, _ members: [(name: String, text: String?)]) {
        sections.append((title, members.compactMap { name, text in text.map { Self.member(name, $0) } }))
    }

    private static func expiry(_ claims: JSONObject, _ moment: Moment) -> String? {
        let now = NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000)
        guard let end = claims["exp"]?.integer.flatMap({ NumericDate(secondsSince1970: $0) }) else {
            return nil
        }
        let distance = end.distance(from: now)
        return end.secondsSince1970 > now.secondsSince1970
            ? "It expires \(distance)." : "It expired \(distance)."
    }

    /// Adds the state of the user's credential, because a user can leave the app after getting the token.
    ///
    /// - Parameters:
    ///   - account: The account; `nil` if the user has none here.
    ///   - authenticatedAt: Time when the user authenticated, in seconds since 1970, from the token.
    mutating func add(
        _ credential: Credential, of account: AccountID?, authenticatedAt: Int64, at now: Moment
    ) {
        addSection(
            "credential of the user here",
            [
                ("account", account?.rawValue), ("app", credential.clientID.rawValue),
                ("state", credential.state.rawValue), ("reason", credential.reason?.rawValue),
                ("since", credential.since?.rfc3339),
            ])
        let isOlder = credential.since.map { authenticatedAt <= $0.milliseconds / 1000 } ?? true
        let isEnded = credential.state == .revoked && isOlder
        addRow(
            "credential", isEnded ? .failed : .passed, found: credential.state.rawValue,
            expected: "authorized or not known yet, or a token that is younger than the end",
            failure: isEnded ? ("credential_revoked", "The user must sign in again.") : nil)
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

extension InspectedToken {
    /// A token may seem older than its grant by at most this many seconds, because two replicas' clocks can
    /// differ.
    private static let largestSkew: Int64 = 10

    /// Adds the state of the grant that the user gave to the client. Only for a genuine ID token.
    ///
    /// - Parameters:
    ///   - grant: The grant; `nil` if the user has none for the client now.
    ///   - account: The account; `nil` if it no longer exists.
    ///   - issuedAt: Issue time in seconds since 1970, from the token.
    mutating func add(
        _ grant: GrantRecord?, of account: Account?, to client: OAuthClientID, issuedAt: Int64, at now: Moment
    ) {
        guard let account else { return refuse("The account does not exist any more.") }
        // A grant younger than the token was created after the token's own grant had ended.
        func addCheck(_ found: String, hasPassed: Bool) {
            addRow(
                "grant", hasPassed ? .passed : .failed, found: found,
                expected: "the grant under which the token was issued, in force",
                failure: hasPassed ? nil : ("grant_ended", "The client must let the user sign in again."))
        }
        guard let grant, grant.createdAt.milliseconds / 1000 - Self.largestSkew <= issuedAt else {
            addCheck(grant == nil ? "no grant" : "a younger grant", hasPassed: false)
            return refuse(
                "The grant to \(client.rawValue) under which the token was issued has ended. The client must let "
                    + "the user sign in again.")
        }
        let credential = account.credentials.first { $0.clientID == grant.clientID }
        addSection(
            "grant of the user here",
            [
                ("id", grant.id.rawValue), ("client", client.rawValue), ("app", grant.clientID.rawValue),
                ("scope", grant.scope), ("created", grant.createdAt.rfc3339),
                ("credential", credential?.state.rawValue),
            ])
        switch credential?.state {
        case .authorized:
            addCheck(grant.id.rawValue, hasPassed: true)
            note("The user's grant to \(client.rawValue) is in force.")
        case .revoked, .notFound, nil:
            addCheck("a grant whose credential is not authorized", hasPassed: false)
            refuse("The user's credential is not authorized any more.")
        }
        if account.isDisabled(at: now) { refuse("The account is disabled here.") }
    }
}

extension CheckReport.Finding {
    /// CSS class for the finding.
    fileprivate var look: String {
        switch self {
        case .passed: "good"
        case .failed: "bad"
        case .unknown: "warn"
        case .notAsked, .notReached: "muted"
        }
    }
}

extension CheckReport {
    /// Returns the value that a passed check found, and the value that it expected.
    ///
    /// - Parameter check: Name of the check in the report.
    fileprivate func compared(by check: String) -> (found: String, expected: String) {
        let keyID = member("kid", of: "header")
        switch check {
        case "size": return ("within the bound", "at most 16,384 bytes")
        case "form": return ("the form of \(kind)", "the form of \(kind), with nothing cut off")
        case "algorithm": return (member("alg", of: "header"), "RS256")
        case "type": return (member("typ", of: "header"), "the type of \(kind)")
        case "header": return ("no such field", "none of crit, b64, jwk, jku, x5u, x5c")
        case "key ID": return (keyID, "a text of 1 to 64 characters")
        case "key": return (keyID, "a key of the signer's current set")
        case "signature": return ("a signature by key \(keyID)", "a signature by this key")
        case "payload": return ("strict JSON", "claims in strict JSON")
        case "kind": return (kind, kind)
        case "claims": return (names, "those that \(kind) must have")
        case "not before": return (member("nbf", of: "claims"), "none, or no later than now\(leewayText)")
        case "issuer": return (member("iss", of: "claims"), "an issuer that this service trusts")
        case "audience":
            return (member("aud", of: "claims"), "a client ID or an audience that is configured here")
        case "subject": return (member("sub", of: "claims"), "a subject that this service takes")
        case "issued at": return (member("iat", of: "claims"), "no later than now\(leewayText)")
        case "expiration": return (member("exp", of: "claims"), "later than now\(leewayText)")
        case "lifetime": return (member("exp", of: "claims"), "within the longest lifetime after iat")
        case "nonce": return (member("nonce", of: "claims"), "the nonce that was given")
        case "code hash": return (member("c_hash", of: "claims"), "the hash of the code that was given")
        case "access token hash", "access_token_hash":
            return (member("at_hash", of: "claims"), "the hash of the access token that was given")
        case "events": return (member("events", of: "claims"), "1 to 16 events in one of Apple's forms")
        case "family": return ("a token family that is good", "the current token of a good family")
        case "code": return ("a code that waits", "a code that waits, within its time")
        // App Attest checks compare bytes, which a reader cannot interpret, so the page does not show them.
        case _: return ("the bytes that were expected", "what the section of the specification asks for")
        }
    }

    /// The tolerated clock skew between the issuer and this service, as text.
    private var leewayText: String {
        leeway.map { $0 == 0 ? "; no leeway" : "; leeway \($0) seconds" } ?? ""
    }

    private func member(_ name: String, of section: String) -> String {
        guard let section = sections.first(where: { $0.name == section }) else { return "none" }
        return zip(section.object.members, section.texts).first { $0.0.name == name }?.1 ?? "none"
    }

    private var names: String {
        let claims = sections.first { $0.name == "claims" }?.object.members.map(\.name) ?? []
        return claims.map(TokenContent.shown).joined(separator: ", ")
    }
}
