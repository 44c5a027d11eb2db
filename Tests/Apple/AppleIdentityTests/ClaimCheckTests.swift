import Testing

@testable import AppleIdentity

@Suite struct NonceCheckTests {
    // SHA-256 of "abc", by `printf abc | openssl dgst -sha256 -binary`, in the three encodings.
    private static let encoded: [(NonceEncoding, String)] = [
        (.raw, "abc"),
        (.sha256Hexadecimal, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha256Base64URL, "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"),
        (.sha256Base64, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
    ]

    @Test(arguments: encoded)
    func `accepts each encoding that clients use, and only where it is allowed`(
        encoding: NonceEncoding, claim: String
    ) throws {
        let claims = IdentityTokenClaims.sample { $0.nonce = claim }
        try NonceCheck(nonce: "abc", encodings: Set(NonceEncoding.allCases)).check(claims, at: .sample)
        try NonceCheck(nonce: "abc", encodings: [encoding]).check(claims, at: .sample)
        let others = Set(NonceEncoding.allCases).subtracting([encoding])
        #expect(throws: AppleTokenError(.nonceMismatch)) {
            try NonceCheck(nonce: "abc", encodings: others).check(claims, at: .sample)
        }
    }

    @Test(arguments: [
        "", "ABC", "abc ", "abd", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
        "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
        "ba7816bf8f01cfea414140de5dae2223",
    ])
    func `refuses every other nonce`(claim: String) {
        #expect(throws: AppleTokenError(.nonceMismatch)) {
            try NonceCheck(nonce: "abc", encodings: Set(NonceEncoding.allCases))
                .check(.sample { $0.nonce = claim }, at: .sample)
        }
    }

    @Test func `compares bytes, not canonical equivalence`() {
        #expect(throws: AppleTokenError(.nonceMismatch)) {
            try NonceCheck(nonce: "caf\u{E9}", encodings: [.raw])
                .check(.sample { $0.nonce = "cafe\u{301}" }, at: .sample)
        }
    }

    @Test(arguments: [nil, true] as [Bool?]) func `refuses a missing nonce`(supported: Bool?) {
        #expect(throws: AppleTokenError(.nonceMissing)) {
            try NonceCheck(nonce: "abc", encodings: [.raw])
                .check(.sample { $0.nonceSupported = supported }, at: .sample)
        }
    }

    @Test func `accepts a missing nonce only when Apple says that nonces are not supported`() throws {
        let check = NonceCheck(nonce: "abc", encodings: [.raw])
        try check.check(.sample { $0.nonceSupported = false }, at: .sample)
        #expect(throws: AppleTokenError(.nonceMismatch)) {
            try check.check(.sample { ($0.nonceSupported, $0.nonce) = (false, "other") }, at: .sample)
        }
    }
}

@Suite struct HashCheckTests {
    /// base64url of the left 16 bytes of SHA-256("abc").
    private static let halfDigest = "ungWv48Bz-pBQUDeXa4iIw"

    @Test func `accepts the code and the access token of the identity token`() throws {
        try CodeHashCheck(authorizationCode: "abc").check(
            .sample { $0.codeHash = Self.halfDigest }, at: .sample)
        try AccessTokenHashCheck(accessToken: "abc")
            .check(.sample { $0.accessTokenHash = Self.halfDigest }, at: .sample)
    }

    @Test(arguments: ["", "abc", halfDigest + "==", "ungWv48Bz+pBQUDeXa4iIw", String(halfDigest.dropLast())])
    func `refuses any other hash`(claim: String) {
        #expect(throws: AppleTokenError(.codeHashMismatch)) {
            try CodeHashCheck(authorizationCode: "abc").check(.sample { $0.codeHash = claim }, at: .sample)
        }
        #expect(throws: AppleTokenError(.accessTokenHashMismatch)) {
            try AccessTokenHashCheck(accessToken: "abc").check(
                .sample { $0.accessTokenHash = claim }, at: .sample)
        }
    }

    @Test func `refuses a token without the hash, even if the other hash is there`() {
        #expect(throws: AppleTokenError(.codeHashMissing)) {
            try CodeHashCheck(authorizationCode: "abc")
                .check(.sample { $0.accessTokenHash = Self.halfDigest }, at: .sample)
        }
        #expect(throws: AppleTokenError(.accessTokenHashMissing)) {
            try AccessTokenHashCheck(accessToken: "abc")
                .check(.sample { $0.codeHash = Self.halfDigest }, at: .sample)
        }
    }
}

@Suite struct AudienceCheckTests {
    let check = AudienceCheck<IdentityTokenClaims>(clientIDs: [
        "com.example.app", "com.example.web", "com.caf\u{E9}",
    ])

    @Test(arguments: ["com.example.app", "com.example.web", "com.caf\u{E9}"])
    func `accepts each configured client ID`(clientID: String) throws {
        try check.check(.sample { $0.audience = .one(clientID) }, at: .sample)
    }

    @Test(arguments: [
        Audience.several, .one(""), .one("com.other.app"), .one("COM.EXAMPLE.APP"), .one("com.example.app "),
        .one("com.example"), .one("com.cafe\u{301}"),
    ])
    func `refuses any other audience, and every array`(audience: Audience) {
        #expect(throws: AppleTokenError(.audienceMismatch)) {
            try check.check(.sample { $0.audience = audience }, at: .sample)
        }
    }

    @Test func `accepts nothing when no client ID is configured`() {
        #expect(throws: AppleTokenError(.audienceMismatch)) {
            try AudienceCheck<IdentityTokenClaims>(clientIDs: []).check(.sample(), at: .sample)
        }
    }

    @Test func `narrows to the client ID that the caller named`() throws {
        let check = RequestedClientIDCheck(clientID: "com.example.web")
        try check.check(.sample { $0.audience = .one("com.example.web") }, at: .sample)
        for audience in [Audience.one("com.example.app"), .several] {
            #expect(throws: AppleTokenError(.audienceMismatch)) {
                try check.check(.sample { $0.audience = audience }, at: .sample)
            }
        }
    }
}

@Suite struct IssuerCheckTests {
    let check = IssuerCheck<IdentityTokenClaims>(issuers: [
        "https://appleid.apple.com", "https://account.apple.com",
    ])

    @Test(arguments: ["https://appleid.apple.com", "https://account.apple.com"])
    func `accepts each issuer of the allow-list`(issuer: String) throws {
        try check.check(.sample { $0.issuer = issuer }, at: .sample)
    }

    @Test(arguments: [
        "", "https://appleid.apple.com/", "http://appleid.apple.com", "https://AppleID.apple.com",
        "https://appleid.apple.com.evil.example", " https://appleid.apple.com", "appleid.apple.com",
    ])
    func `refuses any other issuer`(issuer: String) {
        #expect(throws: AppleTokenError(.issuerMismatch)) {
            try check.check(.sample { $0.issuer = issuer }, at: .sample)
        }
    }

    @Test func `compares bytes, not canonical equivalence`() {
        let check = IssuerCheck<IdentityTokenClaims>(issuers: ["https://K.apple.com"])
        #expect(throws: AppleTokenError(.issuerMismatch)) {
            try check.check(.sample { $0.issuer = "https://\u{212A}.apple.com" }, at: .sample)
        }
    }
}

@Suite struct SubjectCheckTests {
    @Test(arguments: [
        "000723.25da8be332964991898630947202fef0.0402", "a", "é", String(repeating: "x", count: 255),
        String(repeating: "😀", count: 255), "' OR 1=1 --", "../../etc",
    ])
    func `accepts any string that can identify an account`(subject: String) throws {
        try SubjectCheck().check(.sample { $0.subject = subject }, at: .sample)
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 256), "a\nb", "a\u{0}b", "\u{7F}", "a\u{85}", "\u{1B}[2J",
        String(repeating: "e\u{301}", count: 128),
    ])
    func `refuses empty and long subjects, and control characters`(subject: String) {
        #expect(throws: AppleTokenError(.subjectInvalid)) {
            try SubjectCheck().check(.sample { $0.subject = subject }, at: .sample)
        }
    }
}

@Suite struct ExpirationCheckTests {
    @Test(arguments: [(0, -1), (60, 59), (300, 299), (0, -86400)] as [(Int64, Int64)])
    func `accepts up to the last second of the leeway`(leeway: Int64, sinceExpiry: Int64) throws {
        try ExpirationCheck<IdentityTokenClaims>(leeway: leeway)
            .check(.sample { $0.expiresAt = .sample }, at: .sample(plus: sinceExpiry))
    }

    @Test(arguments: [(0, 0), (0, 1), (60, 60), (300, 300), (60, 172_800)] as [(Int64, Int64)])
    func `refuses from the end of the leeway on`(leeway: Int64, sinceExpiry: Int64) {
        #expect(throws: AppleTokenError(.tokenExpired)) {
            try ExpirationCheck<IdentityTokenClaims>(leeway: leeway)
                .check(.sample { $0.expiresAt = .sample }, at: .sample(plus: sinceExpiry))
        }
    }

    @Test func `does not overflow at the ends of the range`() throws {
        let check = ExpirationCheck<IdentityTokenClaims>(leeway: 300)
        let last = NumericDate(clampingSecondsSince1970: .max)
        try check.check(.sample { $0.expiresAt = last }, at: last)
        #expect(throws: AppleTokenError(.tokenExpired)) {
            try check.check(.sample { $0.expiresAt = NumericDate(clampingSecondsSince1970: .min) }, at: last)
        }
    }
}

@Suite struct IssuedAtCheckTests {
    @Test(arguments: [(0, 0), (60, 60), (300, 300), (60, -1_000_000)] as [(Int64, Int64)])
    func `accepts a token from the past and within the leeway`(leeway: Int64, ahead: Int64) throws {
        let claims = IdentityTokenClaims.sample {
            ($0.issuedAt, $0.authenticatedAt) = (.sample(plus: ahead), .sample(plus: ahead))
        }
        try IssuedAtCheck(leeway: leeway).check(claims, at: .sample)
        try AuthenticationTimeCheck(leeway: leeway).check(claims, at: .sample)
    }

    @Test(arguments: [(0, 1), (60, 61), (300, 301), (60, 250_000_000_000)] as [(Int64, Int64)])
    func `refuses a token from the future`(leeway: Int64, ahead: Int64) {
        #expect(throws: AppleTokenError(.issuedInFuture)) {
            try IssuedAtCheck(leeway: leeway).check(
                IdentityTokenClaims.sample { $0.issuedAt = .sample(plus: ahead) }, at: .sample)
        }
        #expect(throws: AppleTokenError(.issuedInFuture)) {
            try AuthenticationTimeCheck(leeway: leeway).check(
                .sample { $0.authenticatedAt = .sample(plus: ahead) }, at: .sample)
        }
    }

    @Test func `does not require auth_time`() throws {
        try AuthenticationTimeCheck(leeway: 0).check(.sample { $0.authenticatedAt = nil }, at: .sample)
    }
}

@Suite struct NotBeforeCheckTests {
    @Test(arguments: [(0, 0), (60, 60), (300, 300), (60, -1_000_000)] as [(Int64, Int64)])
    func `accepts a token that is valid already, and within the leeway`(leeway: Int64, ahead: Int64) throws {
        try NotBeforeCheck(leeway: leeway).check(
            IdentityTokenClaims.sample { $0.notBefore = .sample(plus: ahead) }, at: .sample)
    }

    @Test(arguments: [(0, 1), (60, 61), (300, 301), (60, 250_000_000_000)] as [(Int64, Int64)])
    func `refuses a token that is not valid yet`(leeway: Int64, ahead: Int64) {
        #expect(throws: AppleTokenError(.tokenNotYetValid)) {
            try NotBeforeCheck(leeway: leeway).check(
                IdentityTokenClaims.sample { $0.notBefore = .sample(plus: ahead) }, at: .sample)
        }
    }

    @Test func `does not require nbf`() throws {
        try NotBeforeCheck<IdentityTokenClaims>(leeway: 0).check(.sample(), at: .sample)
    }
}

@Suite struct NumericDateTests {
    @Test(arguments: [-1, 253_402_300_800, .min, .max] as [Int64])
    func `has no value outside the years 1970 to 9999`(seconds: Int64) {
        #expect(NumericDate(secondsSince1970: seconds) == nil)
    }

    @Test(arguments: [0, 253_402_300_799] as [Int64])
    func `has the first and the last second`(seconds: Int64) {
        #expect(NumericDate(secondsSince1970: seconds)?.secondsSince1970 == seconds)
    }

    @Test func `bounds the leeway of a policy`() {
        #expect(VerificationPolicy(clientIDs: [], leeway: .max).leeway == 300)
        #expect(VerificationPolicy(clientIDs: [], leeway: .min).leeway == 0)
    }
}
