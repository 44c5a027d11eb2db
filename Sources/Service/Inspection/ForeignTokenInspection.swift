package import AppleAccounts
import AppleIdentity
import Encodings
package import JOSE
import StrictJSON

/// Checks a Google token, or our client secret for Apple. Runs all checks, and reports the result of each.
package struct ForeignTokenInspection: Sendable {
    /// The public key that a token's header names.
    package enum Key: Sendable {
        case rsa(RSAPublicKey)
        /// The public key that belongs to a client secret's signing key.
        case elliptic(TokenVerificationKey)
    }

    /// Finds the key with an ID; returns `nil` if there is no such key.
    package typealias FindKey = @Sendable (String) async throws(KeysUnavailable) -> Key?

    /// The values that a token must have.
    package struct Rules: Sendable {
        let kind: String
        let algorithm: String
        let claims: [String]
        let issuers: [String]
        let audiences: [String]
        /// The accepted `sub` values; `nil` if `sub` is not compared.
        let subjects: [String]?
        /// Maximum lifetime in seconds; `nil` if there is none.
        let longestLifetime: Int64?
        let advice: @Sendable (ForeignTokenCheck) -> String
        /// Tolerated clock skew between the issuer and this machine, in seconds.
        let leeway: Int64 = 60
    }

    let rules: Rules
    let moment: Moment
    let masksPersons: Bool
    let findKey: FindKey

    package init(rules: Rules, moment: Moment, masksPersons: Bool, findKey: @escaping FindKey) {
        (self.rules, self.moment, self.masksPersons) = (rules, moment, masksPersons)
        self.findKey = findKey
    }

    private struct Mistake {
        let found: String
        let expected: String
        var unknown: String?
    }

    package func inspect(_ text: String) async -> CheckReport {
        let content = TokenContent(text, at: now, masksPersons: masksPersons)
        var mistakes: [ForeignTokenCheck: Mistake] = [:]
        var reached: Set<ForeignTokenCheck> = [.form]
        if let keyID = keyID(of: text) {
            reached.insert(.key)
            do throws(KeysUnavailable) {
                if let key = try await findKey(keyID) {
                    reached.insert(.signature)
                    if !isSigned(text, by: key) {
                        mistakes[.signature] = Mistake(
                            found: "a signature that is not by this key",
                            expected: "a signature by key \(TokenContent.shown(keyID))")
                    }
                } else {
                    mistakes[.key] = Mistake(
                        found: TokenContent.shown(keyID), expected: "a key of the issuer")
                }
            } catch {
                mistakes[.key] = Mistake(found: "", expected: "", unknown: error.description)
            }
        } else {
            mistakes[.form] = Mistake(
                found: content.header.map { "alg \($0["alg"].map { content.text($0, of: "alg") } ?? "none")" }
                    ?? "another text", expected: "a signed JWT with \(rules.algorithm) and a kid")
        }
        if content.claims != nil {
            for check in rules.claimChecks {
                reached.insert(check)
                if let mistake = mistake(check, content) { mistakes[check] = mistake }
            }
        }
        return report(mistakes, reached, content)
    }

    private var now: NumericDate { NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000) }

    private func keyID(of text: String) -> String? {
        let bytes = Array(text.utf8)
        return rules.algorithm == "RS256"
            ? (try? CompactJWS(parsing: bytes))?.keyID : (try? TypedJWS(parsing: bytes))?.keyID
    }

    private func isSigned(_ text: String, by key: Key) -> Bool {
        switch key {
        case .rsa(let key): (try? CompactJWS(parsing: Array(text.utf8)))?.isSigned(by: key) ?? false
        case .elliptic(let key): (try? TypedJWS(parsing: Array(text.utf8)))?.isSigned(by: key) ?? false
        }
    }

    private func mistake(_ check: ForeignTokenCheck, _ content: TokenContent) -> Mistake? {
        switch check {
        case .form, .key, .signature: return nil
        case .claims:
            let missing = rules.claims.filter { content.claims?[$0] == nil }
            return missing.isEmpty
                ? nil
                : Mistake(
                    found: "no \(missing.joined(separator: ", no "))",
                    expected: rules.claims.joined(separator: ", "))
        case .issuer: return compare("iss", rules.issuers, content)
        case .audience: return compare("aud", rules.audiences, content)
        case .subject: return compare("sub", rules.subjects ?? [], content)
        case .issuedAt:
            guard let issuedAt = content.seconds("iat"), issuedAt <= now.secondsSince1970 + rules.leeway
            else {
                return Mistake(
                    found: content.text("iat"),
                    expected: "no later than \(now.text) and \(rules.leeway) seconds of leeway")
            }
            return nil
        case .expiration:
            guard let expiresAt = content.seconds("exp"), now.secondsSince1970 < expiresAt + rules.leeway
            else {
                return Mistake(
                    found: content.text("exp"),
                    expected: "later than \(now.text) less \(rules.leeway) seconds of leeway")
            }
            return nil
        case .lifetime:
            guard let longest = rules.longestLifetime, let issuedAt = content.seconds("iat"),
                let expiresAt = content.seconds("exp"), expiresAt - issuedAt <= longest
            else {
                return Mistake(
                    found: content.text("exp"),
                    expected: "at most \((rules.longestLifetime ?? 0) / 86_400) days after iat")
            }
            return nil
        }
    }

    private func compare(_ claim: String, _ expected: [String], _ content: TokenContent) -> Mistake? {
        let values = content.claims?[claim].map { $0.array?.compactMap(\.string) ?? [$0.string ?? ""] } ?? []
        guard !values.contains(where: { value in expected.contains(where: value.isByteEqual) }) else {
            return nil
        }
        return Mistake(
            found: content.text(claim),
            expected: expected.isEmpty
                ? "a value of this service, which has none"
                : expected.map(TokenContent.shown).joined(separator: " or "))
    }

    private func report(
        _ mistakes: [ForeignTokenCheck: Mistake], _ reached: Set<ForeignTokenCheck>, _ content: TokenContent
    ) -> CheckReport {
        let checks = rules.checks
        let first = checks.lazy.compactMap { check in mistakes[check].map { (check, $0) } }.first
        let verdict: CheckReport.Verdict =
            if let (check, mistake) = first {
                mistake.unknown.map { .undecided($0) } ?? .refused(check.code)
            } else {
                .accepted
            }
        let isSigned = reached.contains(.signature) && mistakes[.signature] == nil
        func section(_ object: JSONObject?, _ name: String, _ title: String) -> CheckReport.Section? {
            object.map { object in
                CheckReport.Section(
                    name: name, title: title, object: object,
                    texts: object.members.map { content.text($0.value, of: $0.name) })
            }
        }
        return CheckReport(
            kind: rules.kind, moment: moment, verdict: verdict,
            checks: checks.map { check in
                let mistake = mistakes[check]
                let finding: CheckReport.Finding =
                    if let mistake {
                        mistake.unknown == nil ? .failed : .unknown
                    } else {
                        reached.contains(check) ? .passed : .notReached
                    }
                return CheckReport.Check(
                    name: check.rawValue, finding: finding,
                    failure: mistake.flatMap { mistake in
                        mistake.unknown == nil
                            ? CheckReport.Failure(
                                code: check.code, found: mistake.found, expected: mistake.expected,
                                advice: rules.advice(check)) : nil
                    })
            }, isSigned: isSigned,
            sections: [
                section(content.header, "header", "header"),
                section(content.claims, "claims", isSigned ? "claims" : "claims, not verified"),
            ].compactMap(\.self), leeway: rules.leeway)
    }
}

extension TokenContent {
    /// Returns the value of a time claim in seconds, within the years 1970 to 9999, so that arithmetic cannot
    /// overflow.
    fileprivate func seconds(_ claim: String) -> Int64? {
        claims?[claim]?.integer.flatMap { NumericDate(secondsSince1970: $0)?.secondsSince1970 }
    }
}

/// A check of a Google token or a client secret. Reports use the raw values as names.
package enum ForeignTokenCheck: String, Sendable, CaseIterable {
    case form
    case key
    case signature
    case claims
    case issuer
    case audience
    case subject
    case issuedAt = "issued at"
    case expiration
    case lifetime

    /// The error code of a token that fails this check.
    var code: String {
        switch self {
        case .form: "token_malformed"
        case .key: "unknown_key"
        case .signature: "signature_invalid"
        case .claims: "claim_missing"
        case .issuer: "issuer_mismatch"
        case .audience: "audience_mismatch"
        case .subject: "subject_mismatch"
        case .issuedAt: "issued_in_future"
        case .expiration: "token_expired"
        case .lifetime: "lifetime_too_long"
        }
    }
}

extension ForeignTokenInspection.Rules {
    /// The checks in the order in which they run.
    var checks: [ForeignTokenCheck] { [.form, .key, .signature] + claimChecks }

    var claimChecks: [ForeignTokenCheck] {
        ForeignTokenCheck.allCases.filter { check in
            switch check {
            case .form, .key, .signature: false
            case .claims, .issuer, .audience, .issuedAt: true
            case .subject: subjects != nil
            case .expiration: claims.contains("exp")
            case .lifetime: longestLifetime != nil
            }
        }
    }

    /// Returns the rules for a Google ID token or security event token.
    ///
    /// - Parameter clientIDs: The client IDs of our Google project.
    package static func google(
        _ kind: GoogleTokenKind, issuers: [String], clientIDs: [String]
    ) -> ForeignTokenInspection.Rules {
        let claims =
            switch kind {
            case .idToken: ["iss", "aud", "sub", "iat", "exp"]
            case .securityEvent: ["iss", "aud", "jti", "iat", "events"]
            }
        return ForeignTokenInspection.Rules(
            kind: kind.rawValue, algorithm: "RS256", claims: claims, issuers: issuers, audiences: clientIDs,
            subjects: nil, longestLifetime: nil
        ) { check in
            switch check {
            case .form: "Give the token as Google sent it, with nothing cut off."
            case .key: "Google changes its keys every few days: an old token's key is gone."
            case .signature: "Google has not made this token, or it was changed. Do not trust it."
            case .claims: "Google makes no such token. Do not trust it."
            case .issuer: "Only tokens of Google are accepted here."
            case .audience:
                "Add the client ID of your project at Google to google_client_ids of the client, if it is yours."
            case .subject: "Any account of Google's is accepted."
            case .issuedAt: "Compare the clock of this machine: siwa doctor does."
            case .expiration: "Google's ID tokens live an hour. Begin the linking again."
            case .lifetime: "Any lifetime is accepted."
            }
        }
    }

    /// Returns the rules for our client secret for Apple.
    ///
    /// - Parameters:
    ///   - teams: This deployment's team IDs.
    ///   - clientIDs: This deployment's client IDs.
    package static func clientSecret(
        teams: [String], clientIDs: [String], appleIssuer: String
    ) -> ForeignTokenInspection.Rules {
        ForeignTokenInspection.Rules(
            kind: "client-secret", algorithm: "ES256", claims: ["iss", "iat", "exp", "aud", "sub"],
            issuers: teams, audiences: [appleIssuer], subjects: clientIDs,
            // Apple documents this maximum of six months in seconds.
            longestLifetime: 15_777_000
        ) { check in
            switch check {
            case .form:
                "A client secret is a JWT, signed with ES256, with the key ID of Apple's portal as kid."
            case .key: "Compare kid with the key in Apple's developer portal, and with SIWA_KEY_ID."
            case .signature:
                "Another private key has signed this secret. Compare the .p8 file with the key ID."
            case .claims: "Apple refuses a secret without these claims."
            case .issuer: "iss is the ID of the team that owns the key and the app."
            case .audience: "aud is Apple's issuer, byte for byte."
            case .subject: "sub is the bundle ID or Services ID that the secret authenticates."
            case .issuedAt: "Compare the clock of this machine with Apple's: siwa doctor does."
            case .expiration: "Make a new secret. This service does by itself, for five minutes each."
            case .lifetime: "Apple accepts a lifetime of six months at most."
            }
        }
    }
}
