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

    @Test(arguments: [nil, true] as [Bool?])
    func `refuses a missing nonce`(supported: Bool?) {
        #expect(throws: AppleTokenError(.nonceMissing)) {
            try NonceCheck(nonce: "abc", encodings: [.raw])
                .check(.sample { $0.nonceSupported = supported }, at: .sample)
        }
    }

    @Test func `accepts a missing nonce only when Apple says that nonces are not supported`() throws {
        let check = NonceCheck(nonce: "abc", encodings: [.raw])
        try check.check(.sample { $0.nonceSupported = false }, at: .sample)
        #expect(throws: AppleTokenError(.nonceMismatch)) {
            try check.check(
                .sample {
                    $0.nonceSupported = false
                    $0.nonce = "other"
                }, at: .sample)
        }
    }
}
