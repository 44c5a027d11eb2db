package import AppleAccounts
package import AppleIdentity
import Cryptography
import JOSE
package import KeySets
package import StrictJSON

/// Runs the service's verifiers on a token, and reports the result of every step, even after the first
/// failure.
package struct TokenInspection: Sendable {
    let kind: TokenKind
    let policy: VerificationPolicy
    let expectations: IdentityTokenExpectations
    let moment: Moment
    /// True if the report masks users' names and addresses.
    let masksPersons: Bool

    package init(
        kind: TokenKind, policy: VerificationPolicy, expectations: IdentityTokenExpectations, moment: Moment,
        masksPersons: Bool = false
    ) {
        (self.kind, self.policy, self.expectations) = (kind, policy, expectations)
        (self.moment, self.masksPersons) = (moment, masksPersons)
    }

    var now: NumericDate { NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000) }

    package func inspect(
        _ compact: String, keys source: any InspectedKeySource
    ) async -> InspectionReport {
        let content = TokenContent(compact, at: now, masksPersons: masksPersons)
        let token: UnverifiedToken
        do throws(AppleTokenError) {
            token = try UnverifiedToken(compact)
        } catch {
            return report(.refused(error), content: content, keyIDs: nil)
        }
        let dropped = dropped(of: token)
        let keys: InspectedKeys
        do throws(KeysUnavailable) {
            keys = try await source.appleKeys()
        } catch {
            return report(
                .undecided("\(error)"), others: mistakes(of: token), content: content, dropped, keyIDs: nil)
        }
        do {
            try await verify(token, with: try await keys.keys.key(of: token))
            return report(.accepted, content: content, dropped, keyIDs: keys.keyIDs)
        } catch let error as AppleTokenError {
            return report(
                .refused(error), others: mistakes(of: token), content: content, dropped, keyIDs: keys.keyIDs)
        } catch {
            return report(
                .undecided("\(error)"), others: mistakes(of: token), content: content, dropped,
                keyIDs: keys.keyIDs)
        }
    }

    private func dropped(of token: UnverifiedToken) -> DroppedClaims {
        switch kind {
        case .identityToken: IdentityTokenVerifier(policy: policy).dropped(of: token)
        case .notification: []
        }
    }

    private func mistakes(of token: UnverifiedToken) -> [AppleTokenError] {
        switch kind {
        case .identityToken:
            IdentityTokenVerifier(policy: policy).mistakes(of: token, expecting: expectations, at: now)
        case .notification: NotificationVerifier(policy: policy).mistakes(of: token, at: now)
        }
    }

    private func verify(_ token: UnverifiedToken, with key: RSAPublicKey) async throws {
        switch kind {
        case .identityToken:
            _ = try IdentityTokenVerifier(policy: policy).verify(
                token, with: key, expecting: expectations, at: now)
        case .notification: _ = try NotificationVerifier(policy: policy).verify(token, with: key, at: now)
        }
    }

    /// The values of the `nonce` claim that would match the expected nonce.
    var expectedNonces: String {
        guard let nonce = expectations.nonce else { return "none" }
        let digest = SHA256Digest.hash(nonce)
        let claims = NonceEncoding.allCases.filter { policy.nonceEncodings.contains($0) }.map {
            "\(TokenContent.shown($0.claim(for: nonce, digest: digest))) (\($0.rawValue))"
        }
        return "one of \(claims.joined(separator: ", "))"
    }

    func expectedHash(of secret: KeyPath<IdentityTokenExpectations, String?>) -> String {
        expectations[keyPath: secret].map { HalfDigest.claim(for: $0) } ?? "none"
    }

    /// - Parameter others: All faults in the claims; `nil` if the claims were not checked or all checks
    ///   passed.
    private func report(
        _ verdict: InspectionReport.Verdict, others: [AppleTokenError]? = nil, content: TokenContent,
        _ dropped: DroppedClaims = [], keyIDs: [String]?
    ) -> InspectionReport {
        var failures: [VerificationStep: InspectionReport.Failure] = [:]
        for error in verdict.errors + (others ?? []) where failures[error.step] == nil {
            failures[error.step] = InspectionReport.Failure(
                code: error.code,
                comparison: CheckComparison(error, of: content, in: self, keyIDs: keyIDs))
        }
        return InspectionReport(
            kind: kind, moment: moment, leeway: policy.leeway, verdict: verdict,
            findings: findings(verdict, failures: failures, others: others), failures: failures,
            content: content, dropped: dropped)
    }

    private func findings(
        _ verdict: InspectionReport.Verdict, failures: [VerificationStep: InspectionReport.Failure],
        others: [AppleTokenError]?
    ) -> [(step: VerificationStep, finding: CheckReport.Finding)] {
        let steps = VerificationStep.steps(for: kind)
        let last: VerificationStep? =
            switch verdict {
            case .accepted: nil
            case .refused(let error): error.step
            case .undecided: .key
            }
        let end = last.flatMap { steps.firstIndex(of: $0) } ?? steps.count
        // If the claims are unreadable, the later checks have no input.
        let endOfOthers = others.map { others in
            others.first { [.payload, .kind, .claims].contains($0.step) }.flatMap {
                steps.firstIndex(of: $0.step)
            } ?? steps.count
        }
        let beginOfOthers = steps.firstIndex(of: .payload) ?? steps.count
        return steps.enumerated().map { index, step in
            let finding: CheckReport.Finding
            if index > end {
                if failures[step] != nil {
                    finding = .failed
                } else if let endOfOthers, index >= beginOfOthers, index < endOfOthers {
                    finding = wasAsked(step) ? .passed : .notAsked
                } else {
                    finding = .notReached
                }
            } else if index == end {
                finding = if case .undecided = verdict { .unknown } else { .failed }
            } else {
                finding = wasAsked(step) ? .passed : .notAsked
            }
            return (step, finding)
        }
    }

    /// Returns `true` if the check was requested. Some checks run only if the caller provides a value to
    /// compare with.
    private func wasAsked(_ step: VerificationStep) -> Bool {
        switch step {
        case .nonce: expectations.nonce != nil
        case .codeHash: expectations.authorizationCode != nil
        case .accessTokenHash: expectations.accessToken != nil
        case .size, .form, .algorithm, .header, .keyID, .key, .signature, .payload, .kind, .claims,
            .notBefore,
            .issuer, .audience, .expiration, .issuedAt, .subject, .events:
            true
        }
    }
}

/// The report about an Apple token: the result of each check, and the token's content.
package struct InspectionReport {
    package enum Verdict {
        case accepted
        case refused(AppleTokenError)
        /// The token could not be verified for this reason.
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
    /// The claims that were dropped because they are malformed.
    let dropped: DroppedClaims

    /// The values compared by the check that determined the verdict.
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

    /// Returns a report section for one of the token's objects; `nil` if the object is unreadable.
    private func section(_ object: JSONObject?, named name: String, titled title: String) -> CheckReport
        .Section?
    {
        guard let object else { return nil }
        return CheckReport.Section(
            name: name, title: title, object: object,
            texts: object.members.map { content.text($0.value, of: $0.name) })
    }
}

/// A source of keys for inspections.
package protocol InspectedKeySource: Sendable {
    /// Returns Apple's usable keys. Throws `KeysUnavailable`, whose description can be shown to the user.
    func appleKeys() async throws(KeysUnavailable) -> InspectedKeys

    /// Returns the key set of the service that issued the token.
    func issuerKeys() async throws(KeysUnavailable) -> [JSONValue]
}

/// The error for keys that are unavailable, described for the user.
package struct KeysUnavailable: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Keys that verify an issuer's tokens.
package struct InspectedKeys: Sendable {
    package let keys: any VerificationKeys
    /// The IDs of the usable keys; `nil` if the source does not list them.
    package let keyIDs: [String]?

    package init(_ keys: any VerificationKeys, keyIDs: [String]?) {
        (self.keys, self.keyIDs) = (keys, keyIDs)
    }
}
