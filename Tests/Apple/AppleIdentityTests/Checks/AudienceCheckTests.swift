import Testing

@testable import AppleIdentity

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
