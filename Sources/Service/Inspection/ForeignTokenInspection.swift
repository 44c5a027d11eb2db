package import AppleAccounts
import AppleIdentity
import Encodings
package import JOSE
import StrictJSON

/// Checks a token that neither Apple nor this service has signed as an identity: a token of Google's, or a
/// client secret of ours for Apple. Runs all checks, and reports the result of each.
package struct ForeignTokenInspection: Sendable {
    /// The key that a token names.
    package enum Key: Sendable {
        case rsa(RSAPublicKey)
        /// For a client secret.
        case elliptic(TokenVerificationKey)
    }

    /// Finds the key with this ID; `nil` when there is none.
    package typealias FindKey = @Sendable (String) async throws(KeysUnavailable) -> Key?

    /// The values that a token must have.
    package struct Rules: Sendable {
        let kind: String
        let algorithm: String
        let claims: [String]
        let issuers: [String]
        let audiences: [String]
        /// `nil` for a token whose `sub` is not compared.
        let subjects: [String]?
        /// In seconds; `nil` without a bound.
        let longestLifetime: Int64?
        let advice: @Sendable (ForeignTokenCheck) -> String
        /// Seconds that the issuer's clock may differ from ours.
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
    /// Seconds within the years 1970 to 9999, so that arithmetic on them cannot overflow.
    fileprivate func seconds(_ claim: String) -> Int64? {
        claims?[claim]?.integer.flatMap { NumericDate(secondsSince1970: $0)?.secondsSince1970 }
    }
}
