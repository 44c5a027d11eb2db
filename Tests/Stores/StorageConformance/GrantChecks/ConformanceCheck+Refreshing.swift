import AppleAccounts
import AuthorizationServer
import Cryptography

extension ConformanceCheck {
    static let refreshing = [
        ConformanceCheck("rotates a refresh token with each use") { store in
            try await store.link()
            var token = SampleToken(family: 1)
            for round in 0..<5 as Range<Int64> {
                let moment = Moment(milliseconds: 2_100_000 + round * 60_000)
                let tokens = try await store.refresh(
                    .sample(token, expiresAt: Moment(milliseconds: 800_000_000 + round), at: moment))
                token = token.next()
                try expectEqual(tokens.family.refreshToken?.generation, token.generation)
                try expectEqual(tokens.family.refreshToken?.digest, token.digest)
                try expectEqual(tokens.family.expiresAt, Moment(milliseconds: 800_000_000 + round))
                try expectEqual(try await store.status(ofFamily: .sample(1))?.family, tokens.family)
            }
            // The rotations are a minute apart, so the token before the previous token is too old.
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(SampleToken(family: 1, generation: 3), at: 2_340_001))
            }
            try expect(try await !store.isGood(1), "the family has ended")
            try await expectGrantRefusal(.refreshTokenNotFound) {
                try await store.refresh(.sample(token, at: 2_340_002))
            }
        },
        ConformanceCheck("gives everybody who repeats an exchange the newest token of the family") { store in
            try await store.link()
            var newest = SampleToken(family: 1)
            var earlier: [SampleToken] = []
            for round in 0..<6 {
                let moment = Moment(milliseconds: 2_100_000 + Int64(round) * 1000)
                let tokens = try await store.refresh(.sample(newest, salt: round, at: moment))
                earlier.insert(newest, at: 0)
                newest = newest.next(round)
                try expectEqual(tokens.successor, newest.text)
                // Each repetition has a salt of its own, which serves nothing.
                for token in earlier.prefix(4).shuffled() {
                    let again = try await store.refresh(.sample(token, salt: 77, at: moment))
                    try expectEqual(again.successor, newest.text)
                    try expectEqual(again.hasNewRefreshToken, true)
                    try expectEqual(again.family.refreshToken?.generation, newest.generation)
                }
            }
            let state = try await store.status(ofFamily: .sample(1))?.family.refreshToken
            try expectEqual(state?.exchanged.map(\.digest), earlier.prefix(4).map(\.digest))
            try expectEqual(state?.exchanged.map(\.salt), [5, 4, 3, 2].map { SampleToken.salt($0) })
            // The fifth before the newest is not stored.
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(earlier[4], at: 2_105_000))
            }
            try expect(try await !store.isGood(1), "the family has ended")
        },
        ConformanceCheck("repeats an exchange whose answer was lost for a day, and others for a minute") {
            store in
            let first = SampleToken(family: 1)
            try await store.link()
            try await store.refresh(.sample(first, at: 2_100_000))
            let lost = try await store.refresh(.sample(first, salt: 1, at: 88_499_999))
            try expectEqual(lost.successor, first.next().text)
            // Now the successor is used.
            try await store.refresh(.sample(first.next(), at: 88_499_999))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(first, at: 88_499_999))
            }
            let second = SampleToken(family: 2)
            try await store.link(2)
            try await store.refresh(.sample(second, at: 2_100_000))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(second, at: 88_500_000))
            }
            let grant = try unwrap(try await store.allEvents().last?.grant)
            try expectEqual(grant.reason, .tokenReused)
        },
        ConformanceCheck("erases salts that no exchange can be repeated with") { store in
            func salts() async throws -> [[UInt8]?] {
                try await store.status(ofFamily: .sample(1))?.family.refreshToken?.exchanged.map(\.salt) ?? []
            }
            try await store.link()
            var token = SampleToken(family: 1)
            for _ in 0..<3 {
                try await store.refresh(.sample(token, at: 2_100_000))
                token = token.next()
            }
            try expectEqual(try await salts().count, 3)
            // By the sweep: the tokens before the latest after the longest window, and the latest after a day.
            try expectEqual(try await store.purgeGrants(at: 2_700_000), 0)
            try expectEqual(try await store.purgeGrants(at: 2_700_001), 1)
            try expectEqual(try await salts(), [SampleToken.salt(0)])
            try expectEqual(try await store.purgeGrants(at: 88_500_000), 1)
            try expectEqual(try await salts(), [SampleToken.salt(0)])
            try expectEqual(try await store.purgeGrants(at: 88_500_001), 1)
            try expectEqual(try await salts(), [nil])
            // By the next rotation.
            try await store.refresh(.sample(token, at: 90_000_000))
            try expectEqual(try await salts(), [SampleToken.salt(0)])
            try await store.refresh(.sample(token.next(), salt: 1, at: 90_001_000))
            try expectEqual(try await salts(), [1, 0].map { SampleToken.salt($0) })
            try await store.refresh(.sample(token.next().next(1), salt: 2, at: 90_061_000))
            try expectEqual(try await salts(), [SampleToken.salt(2)])
        },
        ConformanceCheck("keeps a grant with a code that waits when a refresh token is used again") { store in
            let grant = try await store.link(1)
            try await store.refresh(.sample(SampleToken(family: 1), at: 2_100_000))
            try await store.authorize(.sample(2, account: grant.accountID, at: 88_400_000))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(SampleToken(family: 1), at: 88_500_000))
            }
            try expect(try await !store.isGood(1), "the family has ended")
            try await store.redeem(.sample(2, at: 88_500_001))
            try expect(try await store.isGood(2), "the code was good")
        },
        ConformanceCheck("leaves a token alone that is not rotated, and several beside each other") { store in
            let grant = try await store.link(1, client: "google", isNative: false, forGoogle: true)
            try await store.authorize(.sample(2, account: grant.accountID, client: "google"))
            try await store.redeem(.sample(2, client: "google", isNative: false, forGoogle: true))
            for _ in 0..<3 {
                for family in [1, 2] as [UInt64] {
                    let tokens = try await store.refresh(
                        .sample(SampleToken(family: family), client: "google", salt: nil))
                    try expect(!tokens.hasNewRefreshToken, "there is no new one")
                    try expectEqual(tokens.family.refreshToken?.digest, SampleToken(family: family).digest)
                }
            }
            try await expectGrantRefusal(.refreshTokenForged) {
                try await store.refresh(
                    .sample(SampleToken(family: 1, variant: 9), client: "google", salt: nil))
            }
            try expect(try await store.isGood(1), "a token that was never given ends nothing")
        },
        ConformanceCheck("refuses the token of another client, or of none, without effect") { store in
            try await store.link()
            let token = SampleToken(family: 1)
            try await expectGrantRefusal(.refreshTokenOfAnotherClient) {
                try await store.refresh(.sample(token, client: "tablet"))
            }
            try await expectGrantRefusal(.refreshTokenNotFound) {
                try await store.refresh(.sample(SampleToken(family: 2)))
            }
            try await expectGrantRefusal(.refreshTokenForged) {
                try await store.refresh(
                    RefreshCommand(
                        oauthClientID: "phone", presented: SampleToken.forged(family: 1), rotation: nil,
                        scope: nil, clientScopes: .sample, familyExpiresAt: 900_000_000, moment: 2_100_000))
            }
            try await store.refresh(.sample(token))
        },
        ConformanceCheck("narrows the scope of a refresh, and never widens it") { store in
            try await store.link(scope: "openid email offline_access")
            var token = SampleToken(family: 1)
            for scope in ["openid profile", "", "openid  email", "OpenID"] {
                try await expectGrantRefusal(.scopeExceeded) {
                    try await store.refresh(.sample(token, scope: scope))
                }
            }
            let narrow = try await store.refresh(.sample(token, scope: "email openid"))
            try expectEqual(narrow.scope, "openid email")
            token = token.next()
            try expectEqual(try await store.refresh(.sample(token)).scope, "openid email offline_access")
        },
        ConformanceCheck("keeps a refresh token for none of whose scopes its client is configured") { store in
            try await store.link()
            let none = ScopeSet([ScopeToken.email])
            try await expectGrantRefusal(.scopeWithdrawn) {
                try await store.refresh(.sample(clientScopes: none))
            }
            let status = try unwrap(try await store.status(ofFamily: .sample(1)))
            try expectEqual(status.family.refreshToken?.generation, 0)
            let tokens = try await store.refresh(.sample(at: 2_131_000))
            try expectEqual(tokens.scope, "openid offline_access")
            let part = try await store.refresh(
                .sample(
                    SampleToken(family: 1).next(), clientScopes: ScopeSet([ScopeToken.openID]), at: 2_140_000)
            )
            try expectEqual(part.scope, "openid")
            try expectEqual(part.family.scope, "openid offline_access")
        },
        ConformanceCheck("suspends tokens with a rejected refresh token, until the next sign-in") { store in
            let account = try await store.hold()
            let grant = try await store.link()
            try await store.reject(.sample(account: account, at: 2_050_000))
            try expect(try await !store.isGood(1), "it is suspended")
            try await expectGrantRefusal(.credentialRevoked) { try await store.refresh(.sample()) }
            try expectEqual(try await store.grants(of: account.id), [grant])
            try await store.signIn(.sample(authorizedAt: 2_060_000))
            try expect(try await store.isGood(1), "the sign-in heals it")
            try await store.refresh(.sample())
            try expect(!(try await store.eventKinds()).contains(.grantRevoked), "no end is told")
        },
        ConformanceCheck("ends a family by its time, since its last use and since its beginning") { store in
            try await store.link()
            try await expectGrantRefusal(.refreshTokenExpired) {
                try await store.refresh(.sample(at: 900_000_000))
            }
            let tokens = try await store.refresh(
                .sample(expiresAt: 900_000_000, longestLine: 1_000_000, at: 3_000_000))
            try expectEqual(tokens.family.expiresAt, 3_001_000)
            try await expectGrantRefusal(.refreshTokenExpired) {
                try await store.refresh(.sample(SampleToken(family: 1).next(), at: 3_001_000))
            }
            // Expiry does not end the grant.
            try expectEqual(try await store.grants(of: tokens.account.id).map(\.id), [tokens.grant.id])
        },
    ]
}
