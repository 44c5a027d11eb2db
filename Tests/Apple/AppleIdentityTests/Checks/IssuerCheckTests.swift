import Testing

@testable import AppleIdentity

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
