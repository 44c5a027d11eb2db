package import AppleAccounts
import AppleIdentity
package import AuthorizationServer
import Cryptography
import Encodings
import JOSE
import StrictJSON

/// Checks one of this service's tokens or codes, and reports the result of every check, even after the first
/// failure.
package struct IssuedTokenInspection: Sendable {
    let kind: IssuedTokenKind
    /// The expected issuer; `nil` only for a token or a code that names no issuer.
    let issuer: String?
    /// The accepted audiences; empty if audiences are not compared.
    let audiences: [String]
    let nonce: String?
    let accessToken: String?
    let moment: Moment
    /// True if the report masks users' names and addresses.
    let masksPersons: Bool

    package init(
        kind: IssuedTokenKind, issuer: String?, audiences: [String], nonce: String?, accessToken: String?,
        moment: Moment, masksPersons: Bool = false
    ) {
        (self.kind, self.issuer, self.audiences) = (kind, issuer, audiences)
        (self.nonce, self.accessToken) = (nonce, accessToken)
        (self.moment, self.masksPersons) = (moment, masksPersons)
    }

    /// A failed check, or a check with an unknown result.
    struct Stop: Error {
        let check: IssuedTokenCheck
        let found: String
        let expected: String
        /// The reason that the result is unknown; `nil` for a failed check.
        var unknown: String?

        init(_ check: IssuedTokenCheck, found: String, expected: String) {
            (self.check, self.found, self.expected) = (check, found, expected)
        }

        init(_ check: IssuedTokenCheck, unknown: String) {
            (self.check, found, expected, self.unknown) = (check, "", "", unknown)
        }
    }

    /// - Parameters:
    ///   - family: Looks up token families; `nil` if there is no database.
    ///   - codes: Looks up codes; `nil` if there is no database.
    package func inspect(
        _ text: String, keys: any InspectedKeySource,
        family: (@Sendable (UniqueID) async throws -> TokenStatus?)? = nil, codes: CodeLookup.Find? = nil
    ) async -> CheckReport {
        var families = FamilyLookup(find: family, moment: moment)
        var stored = CodeLookup(find: codes, moment: moment)
        var run = CheckRun()
        switch kind {
        case .refreshToken:
            let token = await run.run(.form) { try families.parse(text) }
            if let token { await run.run(.family) { try await families.check(token) } }
        case .authorizationCode, .deviceCode, .userCode:
            let code = await run.run(.form) { try stored.parse(text, as: kind) }
            if let code { await run.run(.code) { try await stored.check(code) } }
        case .accessToken, .idToken, .securityEvent:
            let token = await checkSignature(text, keys, &run)
            await checkClaims(content(of: text), &run)
            // Only a token that this service has signed names one of its token families.
            if kind == .accessToken, let token, run.hasPassed(.signature) {
                await run.run(.family) { try await families.check(accessToken: token) }
            }
        }
        return report(run, text, families, stored)
    }

    var now: NumericDate { NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000) }

    private func content(of text: String) -> TokenContent {
        TokenContent(text, at: now, masksPersons: masksPersons)
    }

    private func checkSignature(
        _ text: String, _ keys: any InspectedKeySource, _ run: inout CheckRun
    ) async -> TypedJWS? {
        guard let token = await run.run(.form, { try parsed(text) }) else { return nil }
        await run.run(.type) { try checkType(of: token) }
        guard let key = await run.run(.key, { try await key(token.keyID, keys) }) else { return token }
        await run.run(.signature) {
            guard token.isSigned(by: key) else {
                throw Stop(
                    .signature, found: "a signature that is not by this key",
                    expected:
                        "a signature by key \(TokenContent.shown(token.keyID)) with \(key.algorithm.rawValue)"
                )
            }
        }
        return token
    }

    private func parsed(_ text: String) throws -> TypedJWS {
        do throws(JOSEError) {
            return try TypedJWS(parsing: Array(text.utf8))
        } catch {
            throw Stop(
                .form, found: error.code.rawValue,
                expected: "a signed JWT of at most \(TypedJWS.longestToken) bytes")
        }
    }

    private func checkType(of token: TypedJWS) throws {
        let type = token.type ?? "none"
        let name = type.lowercased()
        guard name == kind.type || name == "application/\(kind.type ?? "")" else {
            throw Stop(.type, found: TokenContent.shown(type), expected: kind.type ?? "none")
        }
    }

    private func key(
        _ keyID: String, _ source: any InspectedKeySource
    ) async throws -> TokenVerificationKey {
        let entries: [JSONValue]
        do throws(KeysUnavailable) {
            entries = try await source.issuerKeys()
        } catch {
            throw Stop(.key, unknown: error.description)
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

    private func checkClaims(_ content: TokenContent, _ run: inout CheckRun) async {
        // Without claims, the later checks have no input.
        guard content.claims != nil else { return }
        await run.run(.claims) {
            let missing = kind.claims.filter { content.claims?[$0] == nil }
            guard missing.isEmpty else {
                throw Stop(
                    .claims, found: "no \(missing.joined(separator: ", no "))",
                    expected: kind.claims.joined(separator: ", "))
            }
        }
        func compare(_ claim: String, _ check: IssuedTokenCheck, _ expected: [String]) throws {
            let value = content.claims?[claim]?.string
            guard expected.contains(where: { value?.isByteEqual(to: $0) ?? false }) else {
                throw Stop(
                    check, found: content.text(claim),
                    expected: expected.map(TokenContent.shown).joined(separator: " or "))
            }
        }
        await run.run(.issuer) { if let issuer { try compare("iss", .issuer, [issuer]) } }
        await run.run(.audience) {
            if !audiences.isEmpty { try compare("aud", .audience, audiences) }
        }
        await run.run(.expiration) {
            guard kind.checks.contains(.expiration) else { return }
            guard let end = content.claims?["exp"]?.integer, now.secondsSince1970 < end else {
                throw Stop(
                    .expiration, found: content.text("exp"), expected: "later than \(now.text); no leeway")
            }
        }
        await run.run(.nonce) { if let nonce { try compare("nonce", .nonce, [nonce]) } }
        await run.run(.accessTokenHash) {
            guard let accessToken else { return }
            let hash = Base64URL.encode(SHA256Digest.hash(accessToken).bytes.prefix(16))
            try compare("at_hash", .accessTokenHash, [hash])
        }
    }

    private func wasAsked(_ check: IssuedTokenCheck, _ families: FamilyLookup, _ codes: CodeLookup) -> Bool {
        switch check {
        case .form, .type, .key, .signature, .claims, .issuer, .expiration: true
        case .audience: !audiences.isEmpty
        case .nonce: nonce != nil
        case .accessTokenHash: accessToken != nil
        case .family: families.find != nil
        case .code: codes.find != nil
        }
    }

    private func report(
        _ run: CheckRun, _ text: String, _ families: FamilyLookup, _ codes: CodeLookup
    ) -> CheckReport {
        let verdict: CheckReport.Verdict =
            if let stop = run.first {
                stop.unknown.map { CheckReport.Verdict.undecided($0) } ?? .refused(stop.check.code)
            } else {
                .accepted
            }
        let isSigned = run.hasPassed(.signature)
        let content = content(of: text)
        func section(_ object: JSONObject?, _ name: String, _ title: String) -> CheckReport.Section? {
            object.map { object in
                CheckReport.Section(
                    name: name, title: title, object: object,
                    texts: object.members.map { content.text($0.value, of: $0.name) })
            }
        }
        let isJWT = kind.type != nil
        return CheckReport(
            kind: kind.rawValue, moment: moment, verdict: verdict,
            checks: kind.checks.map { check in
                CheckReport.Check(
                    name: check.rawValue,
                    finding: run.finding(check, wasAsked: wasAsked(check, families, codes)),
                    failure: run.stops[check].flatMap { failure($0) })
            }, isSigned: isSigned,
            sections: [
                section(isJWT ? content.header : nil, "header", "header"),
                section(
                    isJWT ? content.claims : nil, "claims", isSigned ? "claims" : "claims, not verified"),
                section(families.token, "token", "token"),
                section(families.content, "family", "token family"),
                section(codes.content, "code", "code"),
            ].compactMap(\.self), leeway: isJWT ? 0 : nil)
    }

    private func failure(_ stop: Stop) -> CheckReport.Failure? {
        guard stop.unknown == nil else { return nil }
        return CheckReport.Failure(
            code: stop.check.code, found: stop.found, expected: stop.expected, advice: stop.check.advice)
    }
}

/// A check of one of this service's tokens. Reports use the raw values as names.
package enum IssuedTokenCheck: String, CaseIterable {
    case form
    case type
    case key
    case signature
    case claims
    case issuer
    case audience
    case expiration
    case nonce
    case accessTokenHash = "access_token_hash"
    /// Checks the token family in the database.
    case family
    /// Checks the code's row in the database.
    case code

    /// The error code of a token that fails this check.
    var code: String {
        switch self {
        case .form: "token_malformed"
        case .type: "type_mismatch"
        case .key: "unknown_key"
        case .signature: "signature_invalid"
        case .claims: "claim_missing"
        case .issuer: "issuer_mismatch"
        case .audience: "audience_mismatch"
        case .expiration: "token_expired"
        case .nonce: "nonce_mismatch"
        case .accessTokenHash: "access_token_hash_mismatch"
        case .family: "token_inactive"
        case .code: "code_inactive"
        }
    }

    var advice: String {
        switch self {
        case .form: "Give the token as the token endpoint returned it, with nothing cut off."
        case .type: "Give --kind for this kind of token. An ID token is no access token, for an API neither."
        case .key:
            "Give the key set of the service that issued the token. A key stays in the set until its last token has expired."
        case .signature: "This service has not made the token, or it was changed. Do not trust it."
        case .claims: "This service makes no such token. Do not trust it."
        case .issuer: "Give --issuer as the service has it: SIWA_PUBLIC_URL or oauth.issuer, byte for byte."
        case .audience:
            "An access token has the client's audience, by default the issuer; an ID token has the client ID."
        case .expiration: "Refresh the token. --at verifies it as of an earlier time."
        case .nonce: "Compare with the nonce of the authorization request that began this session."
        case .accessTokenHash: "Give the access token of the same token response."
        case .code: "A code is for one use within its time. The client must begin a new authorization."
        case .family: "The user or the client must begin a new authorization, or sign in again."
        }
    }
}

/// The progress of a token's inspection: the checks that ran, and the checks that failed.
struct CheckRun {
    private(set) var stops: [IssuedTokenCheck: IssuedTokenInspection.Stop] = [:]
    /// The first failure, which determines the verdict.
    private(set) var first: IssuedTokenInspection.Stop?
    private var reached: Set<IssuedTokenCheck> = []

    /// Runs a check, even after a failure. Returns `nil` if the check fails.
    mutating func run<Value>(
        _ check: IssuedTokenCheck, _ body: () async throws -> Value
    ) async -> Value? {
        do {
            let value = try await body()
            reached.insert(check)
            return value
        } catch let stop as IssuedTokenInspection.Stop {
            note(stop)
        } catch {
            note(IssuedTokenInspection.Stop(check, unknown: "the database cannot be read (\(error))"))
        }
        return nil
    }

    func hasPassed(_ check: IssuedTokenCheck) -> Bool { reached.contains(check) }

    private mutating func note(_ stop: IssuedTokenInspection.Stop) {
        stops[stop.check] = stop
        if first == nil { first = stop }
    }

    /// - Parameter wasAsked: False if the caller provided no value for this check.
    func finding(_ check: IssuedTokenCheck, wasAsked: Bool) -> CheckReport.Finding {
        if let stop = stops[check] { return stop.unknown == nil ? .failed : .unknown }
        guard reached.contains(check) else { return .notReached }
        return wasAsked ? .passed : .notAsked
    }
}
