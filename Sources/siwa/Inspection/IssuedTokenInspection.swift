import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Cryptography
import Encodings
import JOSE
import StrictJSON

/// Checks one token of this service, and reports the result of each check. Stops at the first that fails.
struct IssuedTokenInspection: Sendable {
    let kind: IssuedTokenKind
    /// `nil` only for a refresh token, which names no issuer.
    let issuer: String?
    /// The accepted audiences; empty when they are not compared.
    let audiences: [String]
    let nonce: String?
    let accessToken: String?
    let moment: Moment

    /// A check that failed, or whose result cannot be known.
    struct Stop: Error {
        let check: IssuedTokenCheck
        let found: String
        let expected: String
        /// The reason for which the result is not known; `nil` for a failed check.
        var unknown: String?

        init(_ check: IssuedTokenCheck, found: String, expected: String) {
            (self.check, self.found, self.expected) = (check, found, expected)
        }

        init(_ check: IssuedTokenCheck, unknown: String) {
            (self.check, found, expected, self.unknown) = (check, "", "", unknown)
        }
    }

    /// - Parameter family: Looks a token family up; `nil` without a database.
    func inspect(
        _ text: String, keys: InspectionKeys,
        family: (@Sendable (UniqueID) async throws -> TokenStatus?)? = nil
    ) async -> CheckReport {
        var lookup = FamilyLookup(find: family, moment: moment)
        do {
            if kind == .refreshToken {
                try await lookup.check(refreshToken: text)
            } else {
                let token = try await verified(text, keys)
                try check(TokenContent(text, at: now))
                if kind == .accessToken { try await lookup.check(accessToken: token) }
            }
            return report(nil, text, lookup)
        } catch let stop as Stop {
            return report(stop, text, lookup)
        } catch {
            return report(Stop(.family, unknown: "the database cannot be read (\(error))"), text, lookup)
        }
    }

    private var now: NumericDate { NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000) }

    private func verified(_ text: String, _ keys: InspectionKeys) async throws -> TypedJWS {
        let token: TypedJWS
        do throws(JOSEError) {
            token = try TypedJWS(parsing: Array(text.utf8))
        } catch {
            throw Stop(
                .form, found: error.code.rawValue,
                expected: "a signed JWT of at most \(TypedJWS.longestToken) bytes")
        }
        let type = token.type ?? "none"
        let name = type.lowercased()
        guard name == kind.type || name == "application/\(kind.type ?? "")" else {
            throw Stop(.type, found: TokenContent.shown(type), expected: kind.type ?? "none")
        }
        let key = try await key(token.keyID, keys)
        guard token.isSigned(by: key) else {
            throw Stop(
                .signature, found: "a signature that is not by this key",
                expected:
                    "a signature by key \(TokenContent.shown(token.keyID)) with \(key.algorithm.rawValue)")
        }
        return token
    }

    private func key(_ keyID: String, _ source: InspectionKeys) async throws -> TokenVerificationKey {
        let bytes: [UInt8]
        do throws(InspectionKeys.Unavailable) {
            bytes = try await source.read()
        } catch {
            throw Stop(.key, unknown: error.description)
        }
        guard let entries = (try? JSONValue(parsing: bytes))?["keys"]?.array else {
            throw Stop(.key, unknown: "the key set is not a JSON Web Key Set")
        }
        let entry = entries.first { $0["kid"]?.string.map { $0.isByteEqual(to: keyID) } ?? false }
        guard let key = entry.flatMap({ try? TokenVerificationKey(jwk: $0) }) else {
            let known = entries.compactMap { $0["kid"]?.string }.map(TokenContent.shown)
            throw Stop(
                .key, found: TokenContent.shown(keyID),
                expected: "one of \(known.joined(separator: ", "))")
        }
        return key
    }

    private func check(_ content: TokenContent) throws(Stop) {
        let missing = kind.claims.filter { content.claims?[$0] == nil }
        guard missing.isEmpty else {
            throw Stop(
                .claims, found: "no \(missing.joined(separator: ", no "))",
                expected: kind.claims.joined(separator: ", "))
        }
        func compare(_ claim: String, _ check: IssuedTokenCheck, _ expected: [String]) throws(Stop) {
            let value = content.claims?[claim]?.string
            guard expected.contains(where: { value?.isByteEqual(to: $0) ?? false }) else {
                throw Stop(
                    check, found: content.text(claim),
                    expected: expected.map(TokenContent.shown).joined(separator: " or "))
            }
        }
        if let issuer { try compare("iss", .issuer, [issuer]) }
        if !audiences.isEmpty { try compare("aud", .audience, audiences) }
        if kind.checks.contains(.expiration) {
            guard let end = content.claims?["exp"]?.integer, now.secondsSince1970 < end else {
                throw Stop(.expiration, found: content.text("exp"), expected: "later than \(now.text)")
            }
        }
        if let nonce { try compare("nonce", .nonce, [nonce]) }
        if let accessToken {
            let hash = Base64URL.encode(SHA256Digest.hash(accessToken).bytes.prefix(16))
            try compare("at_hash", .accessTokenHash, [hash])
        }
    }

    private func wasAsked(_ check: IssuedTokenCheck, _ lookup: FamilyLookup) -> Bool {
        switch check {
        case .form, .type, .key, .signature, .claims, .issuer, .expiration: true
        case .audience: !audiences.isEmpty
        case .nonce: nonce != nil
        case .accessTokenHash: accessToken != nil
        case .family: lookup.find != nil
        }
    }

    private func report(_ stop: Stop?, _ text: String, _ lookup: FamilyLookup) -> CheckReport {
        let checks = kind.checks
        let end = stop.flatMap { checks.firstIndex(of: $0.check) } ?? checks.count
        let verdict: CheckReport.Verdict =
            if let stop {
                stop.unknown.map { CheckReport.Verdict.undecided($0) } ?? .refused(stop.check.code)
            } else {
                .accepted
            }
        let isSigned = (checks.firstIndex(of: .signature) ?? end) < end
        let content = TokenContent(text, at: now)
        func section(_ object: JSONObject?, _ name: String, _ title: String) -> CheckReport.Section? {
            object.map { object in
                CheckReport.Section(
                    name: name, title: title, object: object,
                    texts: object.members.map { content.text($0.value, of: $0.name) })
            }
        }
        let isJWT = kind != .refreshToken
        return CheckReport(
            kind: kind.rawValue, moment: moment, verdict: verdict,
            checks: checks.enumerated().map { index, check in
                let passed: CheckReport.Finding = wasAsked(check, lookup) ? .passed : .notAsked
                let stopped: CheckReport.Finding = stop?.unknown == nil ? .failed : .unknown
                let failure = index == end ? stop.flatMap { self.failure($0) } : nil
                return CheckReport.Check(
                    name: check.rawValue,
                    finding: index < end ? passed : index == end ? stopped : .notReached, failure: failure)
            }, isSigned: isSigned,
            sections: [
                section(isJWT ? content.header : nil, "header", "header"),
                section(
                    isJWT ? content.claims : nil, "claims", isSigned ? "claims" : "claims, not verified"),
                section(lookup.token, "token", "token"), section(lookup.content, "family", "token family"),
            ].compactMap(\.self))
    }

    private func failure(_ stop: Stop) -> CheckReport.Failure? {
        guard stop.unknown == nil else { return nil }
        return CheckReport.Failure(
            code: stop.check.code, found: stop.found, expected: stop.expected, advice: stop.check.advice)
    }
}
