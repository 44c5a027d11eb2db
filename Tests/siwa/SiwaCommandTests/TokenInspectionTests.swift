import AppAttestation
import AppleAccounts
import AppleIdentity
import ArgumentParser
import AttestationMint
import Encodings
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import Composition
@testable import Inspection
@testable import siwa

@Suite struct TokenInspectionTests {
    static func inspect(
        _ token: String, kind: TokenKind = .identityToken, clientIDs: [String] = [TokenMint.clientID],
        expecting expectations: IdentityTokenExpectations = .init(), keys: String? = nil,
        at moment: Int64 = TokenMint.sampleTime + 60
    ) async throws -> InspectionReport {
        let inspection = TokenInspection(
            kind: kind, policy: VerificationPolicy(clientIDs: clientIDs), expectations: expectations,
            moment: Moment(seconds: moment))
        let keySet = keys ?? String(decoding: TokenMint.shared.keySet, as: UTF8.self)
        return try await TemporaryFile.with(keySet) { path in
            await inspection.inspect(token, keys: InspectionKeys(file: path, url: nil))
        }
    }

    static func findings(_ report: InspectionReport) -> [VerificationStep: CheckReport.Finding] {
        Dictionary(uniqueKeysWithValues: report.findings.map { ($0.step, $0.finding) })
    }

    @Test func `a valid token passes every requested check`() async throws {
        let report = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()))
        #expect(report.word == "accepted", "\(report.text)")
        let findings = Self.findings(report)
        #expect(findings[.signature] == .passed)
        #expect(findings[.nonce] == .notAsked)
        #expect(!findings.values.contains(.failed))
        #expect(!findings.values.contains(.notReached))
    }

    @Test(arguments: [60, 3 * 86_400])
    func `claims that are dropped for their form are named, also of a token that has expired`(later: Int64)
        async throws
    {
        var claims = TokenMint.identityClaims()
        (claims["email"], claims["real_user_status"]) = (.null, .string("2"))
        let report = try await Self.inspect(
            try TokenMint.shared.sign(claims), at: TokenMint.sampleTime + later)
        #expect(report.text.contains(later == 60 ? "\naccepted\n" : "refused: token_expired"))
        #expect(
            report.text.contains(
                "\ndropped, because the form is wrong and nothing depends on it: email, real_user_status\n"))
        let json = try JSONValue(parsing: Array(report.json.utf8))
        #expect(json["dropped"]?.array?.compactMap(\.string) == ["email", "real_user_status"])
        let plain = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()))
        #expect(!plain.text.contains("dropped") && !plain.json.contains("dropped"))
        // A notification has no claims that are dropped.
        let notification = try await Self.inspect(try TokenMint.shared.sign(claims), kind: .notification)
        #expect(!notification.text.contains("dropped"))
    }

    @Test func `the check that decides is named, and what follows is checked too`() async throws {
        let report = try await Self.inspect(
            try TokenMint.shared.sign(TokenMint.identityClaims()), clientIDs: ["com.example.other"])
        #expect(report.word == "audienceMismatch")
        let findings = Self.findings(report)
        #expect(findings[.issuer] == .passed)
        #expect(findings[.audience] == .failed)
        #expect(findings[.expiration] == .passed)
        #expect(report.text.contains("refused: audience_mismatch"))
    }

    @Test func `the checks behind the first failure run too, and each says what to do`()
        async throws
    {
        var claims = TokenMint.identityClaims()
        (claims["aud"], claims["iss"]) = (.string("com.other"), .string("https://evil.example"))
        let token = try TokenMint.shared.sign(claims)
        let late = TokenMint.sampleTime + 3 * 86_400
        let report = try await Self.inspect(token, expecting: .init(nonce: "n"), at: late)
        let failed = Self.findings(report).filter { $0.value == .failed }.map(\.key)
        #expect(Set(failed) == [.issuer, .audience, .expiration, .nonce])
        #expect(Self.findings(report)[.subject] == .passed)
        #expect(report.text.contains("refused: issuer_mismatch"))
        #expect(report.text.contains("(2026-01-01T00:00:00.000Z, 3 days ago)"))
        let checks = try JSONValue(parsing: Array(report.json.utf8))["checks"]?.array ?? []
        #expect(checks.count { $0["advice"]?.string?.isEmpty == false } == 4)
        #expect(checks.compactMap { $0["code"]?.string }.last == "nonce_missing")
    }

    @Test func `a token whose key is gone shows that it has expired too`() async throws {
        let token = try TokenMint(keyID: "gone").sign(TokenMint.identityClaims())
        let late = TokenMint.sampleTime + 2 * 86_400
        let findings = Self.findings(try await Self.inspect(token, at: late))
        #expect(findings[.key] == .failed && findings[.expiration] == .failed)
        #expect(findings[.signature] == .notReached && findings[.audience] == .passed)
    }

    @Test func `a notification shows every mistake`() async throws {
        var claims = TokenMint.notificationClaims()
        claims["aud"] = .string("com.other")
        let late = TokenMint.sampleTime + 40 * 86_400
        let report = try await Self.inspect(try TokenMint.shared.sign(claims), kind: .notification, at: late)
        #expect(Self.findings(report)[.audience] == .failed && Self.findings(report)[.expiration] == .failed)
        #expect(Self.findings(report)[.events] == .passed)
    }

    @Test func `garbage is refused without keys`() async throws {
        let report = try await Self.inspect("a.b.c", keys: "no key set")
        #expect(report.word == "tokenMalformed")
    }

    @Test func `without usable keys the verdict is undecided`() async throws {
        let report = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()), keys: "{}")
        #expect(report.word == "undecided")
        #expect(Self.findings(report)[.key] == .unknown)
        #expect(Self.findings(report)[.signature] == .notReached)
        #expect(Self.findings(report)[.expiration] == .passed)
    }

    @Test func `without usable keys the mistakes of the claims are shown too`() async throws {
        let report = try await Self.inspect(
            try TokenMint.shared.sign(TokenMint.identityClaims()), keys: "{}",
            at: TokenMint.sampleTime + 3 * 86_400)
        #expect(report.word == "undecided")
        #expect(Self.findings(report)[.expiration] == .failed)
        #expect(Self.findings(report)[.audience] == .passed)
    }

    @Test func `a report says the leeway of its times`() async throws {
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        let text = try await Self.inspect(token).text
        #expect(text.contains(", with 60 seconds of leeway\n"))
        // A second after the end of the leeway.
        let expired = try await Self.inspect(token, at: TokenMint.sampleTime + 86_400 + 60)
        #expect(expired.text.contains("(now less 60 seconds of leeway)"), "\(expired.text)")
        #expect(try JSONValue(parsing: Array(expired.json.utf8))["leeway_seconds"]?.integer == 60)
    }

    @Test func `a notification has its own checks`() async throws {
        let token = try TokenMint.shared.sign(TokenMint.notificationClaims())
        let report = try await Self.inspect(token, kind: .notification)
        #expect(report.word == "accepted", "\(report.text)")
        #expect(Self.findings(report)[.events] == .passed)
        #expect(Self.findings(report)[.subject] == nil)
        let asToken = try await Self.inspect(token)
        #expect(asToken.word == "notAnIdentityToken")
    }

    @Test func `JSON has the verdict, every check and the claims`() async throws {
        let report = try await Self.inspect(
            try TokenMint.shared.sign(TokenMint.identityClaims()), expecting: .init(nonce: "not-the-nonce"))
        let json = try JSONValue(parsing: Array(report.json.utf8))
        #expect(json["verdict"]?.string == "refused")
        #expect(json["code"]?.string == "nonce_missing")
        #expect(json["checks"]?.array?.count == VerificationStep.steps(for: .identityToken).count)
        let good = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()))
        let goodJSON = try JSONValue(parsing: Array(good.json.utf8))
        #expect(goodJSON["verdict"]?.string == "accepted")
        #expect(goodJSON["claims"]?["sub"]?.string == TokenMint.subject)
    }

    @Test func `all claims are printed, also unknown ones`() async throws {
        var claims = TokenMint.identityClaims()
        claims["nonce"] = .string("n-1")
        claims["future"] = .object(JSONObject([("a", .array([.bool(true), .null]))]))
        claims["steering"] = .string("\u{1B}[2J\u{7F}é")
        let report = try await Self.inspect(try TokenMint.shared.sign(claims))
        let json = try JSONValue(parsing: Array(report.json.utf8))
        #expect(json["claims"]?.object?.members.count == claims.members.count)
        for (name, value) in claims.members { #expect(json["claims"]?[name] == value) }
        #expect(json["is_signed"]?.bool == true)
        #expect(json["header"]?["alg"]?.string == "RS256")
        for (name, _) in claims.members { #expect(report.text.contains("  \(name): ")) }
        #expect(report.text.contains(#"future: {"a":[true,null]}"#))
        #expect(report.text.contains("iat: \(TokenMint.sampleTime) (2026-01-01T00:00:00.000Z, 1 minute ago)"))
        #expect(report.text.contains("steering: ?[2J??"))
        #expect(report.text.unicodeScalars.allSatisfy { $0 == "\n" || (" "..."~").contains($0) })
    }

    @Test func `claims without a valid signature are marked as not verified`() async throws {
        let token = try TokenMint(keyID: TokenMint.shared.keyID).sign(TokenMint.identityClaims())
        let report = try await Self.inspect(token)
        #expect(report.text.contains("claims, not verified:"))
        #expect(report.text.contains("sub: \(TokenMint.subject)"))
        #expect(try JSONValue(parsing: Array(report.json.utf8))["is_signed"]?.bool == false)
    }

    @Test(
        arguments: [
            ("aud", .string("com.other"), "com.other", TokenMint.clientID),
            ("iss", .string("https://evil.example"), "https://evil.example", "https://appleid.apple.com"),
            (
                "exp", .integer(TokenMint.sampleTime),
                "\(TokenMint.sampleTime) (2026-01-01T00:00:00.000Z, 1 minute ago)",
                "later than 2026-01-01T00:00:00.000Z (now less 60 seconds of leeway)"
            ),
            (
                "nbf", .integer(TokenMint.sampleTime + 600),
                "\(TokenMint.sampleTime + 600) (2026-01-01T00:10:00.000Z, in 9 minutes)",
                "no later than 2026-01-01T00:02:00.000Z (now and 60 seconds of leeway)"
            ),
            (
                "auth_time", .integer(TokenMint.sampleTime + 600),
                "auth_time: \(TokenMint.sampleTime + 600) (2026-01-01T00:10:00.000Z, in 9 minutes)",
                "no later than 2026-01-01T00:02:00.000Z (now and 60 seconds of leeway)"
            ),
            ("email_verified", .string("yes"), "email_verified: yes", "true or false"),
            ("sub", .string(""), "", "1 to 255 characters, none of them a control character"),
            ("sub", nil, "no sub", "iss, aud, exp, iat, sub"),
            ("c_hash", .string("x"), "x", HalfDigest.claim(for: "c-1")),
            ("at_hash", nil, "none", HalfDigest.claim(for: "a-1")),
        ] as [(String, JSONValue?, String, String)])
    func `a failed check has the found and the expected value`(
        claim: String, value: JSONValue?, found: String, expected: String
    ) async throws {
        var claims = TokenMint.identityClaims()
        claims["c_hash"] = .string(HalfDigest.claim(for: "c-1"))
        claims["at_hash"] = .string(HalfDigest.claim(for: "a-1"))
        claims[claim] = value
        let report = try await Self.inspect(
            try TokenMint.shared.sign(claims), expecting: .init(authorizationCode: "c-1", accessToken: "a-1"))
        #expect(report.comparison == CheckComparison(found: found, expected: expected))
        #expect(report.text.contains("expected  \(expected)"))
        let checks = try JSONValue(parsing: Array(report.json.utf8))["checks"]?.array
        let failed = checks?.first { $0["result"]?.string == "failed" }
        #expect(failed?["found"]?.string == found)
        #expect(failed?["expected"]?.string == expected)
    }

    @Test func `a code and an access token are compared with their hashes`() async throws {
        var claims = TokenMint.identityClaims()
        claims["c_hash"] = .string(HalfDigest.claim(for: "c-1"))
        claims["at_hash"] = .string(HalfDigest.claim(for: "a-1"))
        let report = try await Self.inspect(
            try TokenMint.shared.sign(claims), expecting: .init(authorizationCode: "c-1", accessToken: "a-1"))
        #expect(Self.findings(report)[.codeHash] == .passed)
        #expect(Self.findings(report)[.accessTokenHash] == .passed)
        let silent = try await Self.inspect(try TokenMint.shared.sign(claims))
        #expect(Self.findings(silent)[.codeHash] == .notAsked)
        #expect(Self.findings(silent)[.accessTokenHash] == .notAsked)
    }

    @Test func `for a nonce all accepted forms are shown`() async throws {
        let report = try await Self.inspect(
            try TokenMint.shared.sign(TokenMint.identityClaims()), expecting: .init(nonce: "n-1"))
        #expect(report.comparison?.found == "none")
        for word in ["n-1 (raw)", "(sha256_hex)", "(sha256_base64url)", "(sha256_base64)"] {
            #expect(report.comparison?.expected.contains(word) == true)
        }
    }

    @Test func `checks before the claims have the found value too`() async throws {
        let honest = try TokenMint.shared.sign(TokenMint.identityClaims())
        let body = honest.split(separator: ".")[1]
        func header(_ text: String) -> String { "\(Base64URL.encode(Array(text.utf8))).\(body).QUFB" }
        let stranger = try TokenMint(keyID: "stranger").sign(TokenMint.identityClaims())
        let cases: [(String, CheckComparison)] = [
            (header(#"{"alg":"none","kid":"a"}"#), CheckComparison(found: "none", expected: "RS256")),
            (
                header(#"{"alg":"RS256","kid":7}"#),
                CheckComparison(found: "7", expected: "a string of 1 to 64 characters")
            ),
            (stranger, CheckComparison(found: "stranger", expected: TokenMint.shared.keyID)),
        ]
        for (token, expected) in cases { #expect(try await Self.inspect(token).comparison == expected) }
    }
}

extension InspectionReport {
    /// The verdict in one word: the code of a refusal.
    fileprivate var word: String {
        switch verdict {
        case .accepted: "accepted"
        case .refused(let error): "\(error.code)"
        case .undecided: "undecided"
        }
    }
}

/// Checks which options `siwa verify` takes for each kind of input.
@Suite struct VerifyOptionsTests {
    static let app = ["--team-id", "A1B2C3D4E5", "--bundle-id", "com.example.app"]
    static let keyID = "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV0="
    static let attestation =
        ["--kind", "attestation", "--key-id", keyID, "--environment", "production", "--challenge", "c"] + app
    static let assertion = ["--kind", "assertion", "--counter", "0", "--client-data", "YWJj"] + app

    @Test func `takes a token with its audience`() throws {
        #expect(try Verify.parse(["--client-id", "com.example.app"]).kind == .token(.identityToken))
        let notification = try Verify.parse(["--client-id", "com.example.app", "--kind", "notification"])
        #expect(notification.kind == .token(.notification))
    }

    @Test func `takes an attestation, and an assertion with the key`() throws {
        #expect(try Verify.parse(Self.attestation).kind == .object(.attestation))
        let point = Base64.encode(try MintedKey().point)
        let parsed = try Verify.parse(Self.assertion + ["--public-key", point])
        #expect(parsed.kind == .object(.assertion) && parsed.attestation.counter == 0)
    }

    @Test func `takes a bundle ID with an underscore`() throws {
        let options = Self.attestation.map { $0 == "com.example.app" ? "com.example.my_app" : $0 }
        #expect(try Verify.parse(options).attestation.bundleID == "com.example.my_app")
    }

    @Test func `takes tokens of this service with their issuer, and refresh tokens with the database`() throws
    {
        for kind in ["access-token", "id-token", "security-event"] {
            let parsed = try Verify.parse(["--kind", kind, "--issuer", "https://a.example"])
            #expect(parsed.issued.keySetURL == "https://a.example/oauth/jwks.json")
        }
        #expect(try Verify.parse(["--kind", "refresh-token", "--database"]).issued.readsDatabase)
    }

    @Test func `takes the platform of an attestation, and of nothing else`() throws {
        let parsed = try Verify.parse(Self.attestation + ["--platform", "macos"])
        #expect(parsed.attestation.platform == .macOS)
        let point = Base64.encode(try MintedKey().point)
        for others in [Self.assertion + ["--public-key", point], ["--client-id", "a"]] {
            _ = try Verify.parse(others)
            #expect(throws: (any Error).self) { try Verify.parse(others + ["--platform", "macos"]) }
        }
    }

    @Test func `takes the client data hash itself, of 16 bytes or more`() throws {
        let others = Self.attestation.filter { $0 != "--challenge" && $0 != "c" }
        _ = try Verify.parse(others + ["--client-data-hash", "ZXhhbXBsZV9zZXJ2ZXJfY2hhbGxlbmdl"])
        #expect(throws: (any Error).self) { try Verify.parse(others + ["--client-data-hash", "YWJj"]) }
    }

    @Test(arguments: [
        [], ["--kind", "token", "--client-id", "a"], ["--client-id", ""], ["--client-id", "a"] + app,
        ["--client-id", "a", "--counter", "1"], ["--kind", "attestation"] + app,
        attestation + ["--client-id", "a"], attestation + ["--nonce", "n"], attestation + ["--counter", "1"],
        attestation + ["--client-data", "YWJj"], ["--kind", "access-token"],
        ["--kind", "refresh-token", "--issuer", "https://a.example"],
        ["--kind", "id-token", "--issuer", "https://a.example", "--database"],
        ["--kind", "access-token", "--issuer", "https://a.example", "--nonce", "n"],
        ["--kind", "refresh-token", "--client-id", "shop"], ["--client-id", "a", "--issuer", "b"],
        ["--client-id", "a", "--database"],
        assertion, assertion + ["--public-key", "YWJj"], assertion + ["--key-id", keyID],
        ["--kind", "attestation", "--key-id", "YWJj", "--environment", "production", "--challenge", "c"]
            + app,
        ["--kind", "attestation", "--key-id", keyID, "--environment", "sandbox", "--challenge", "c"] + app,
        attestation.map { $0 == "com.example.app" ? "com.example.*" : $0 },
        attestation.map { $0 == "A1B2C3D4E5" ? "a1b2c3d4e5" : $0 },
    ])
    func `refuses options that are missing, malformed, or of another kind`(arguments: [String]) {
        #expect(throws: (any Error).self) { try Verify.parse(arguments) }
    }
}

/// The lines that `siwa audit verify` prints, to be kept elsewhere.
@Suite struct AuditLinesTests {
    /// Returns the lines about a log of two rows about one user.
    private static func lines(isErased: Bool) throws -> [String] {
        var generator = SystemRandomNumberGenerator()
        let account = AccountID(UniqueID(at: Moment(seconds: 1), using: &generator))
        var rows: [AuditRow] = []
        for _ in 0..<2 {
            let sealed = SealedAuditEntry(
                AuditEntry(.consoleShow, by: .service, at: Moment(seconds: 1), person: AuditPerson(account)),
                using: &generator)
            let link = (rows.last?.link ?? .beginning).next(sealed.canonicalBytes)
            rows.append(AuditRow(isErased ? sealed.withoutPerson : sealed, link: link))
        }
        let head = try #require(rows.last?.link)
        var verification = AuditVerification(AuditChain(anchor: .beginning, head: head))
        for row in rows { try verification.check(row) }
        try verification.finish()
        let lines = VerifyAudit.lines(verification)
        #expect(lines.first == "The audit log is as it was written: rows 1 to 2.")
        #expect(lines.last == "Newest hash: \(head.hashText)")
        return lines
    }

    @Test(arguments: [(false, 0), (true, 2)])
    func `the number of rows whose user was erased stands beside the hash, also when it is 0`(
        isErased: Bool, count: Int
    ) throws {
        let lines = try Self.lines(isErased: isErased)
        #expect(lines.count == 3 && lines[1] == "Rows whose user was erased: \(count).")
    }

    @Test func `an empty log has one line`() {
        #expect(VerifyAudit.lines(AuditVerification(.empty)) == ["The audit log has no rows."])
    }
}
