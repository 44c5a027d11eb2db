import Testing

@testable import AppleIdentity

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
