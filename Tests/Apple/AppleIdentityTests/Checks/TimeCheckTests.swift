import Testing

@testable import AppleIdentity

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
            $0.issuedAt = .sample(plus: ahead)
            $0.authenticatedAt = .sample(plus: ahead)
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
