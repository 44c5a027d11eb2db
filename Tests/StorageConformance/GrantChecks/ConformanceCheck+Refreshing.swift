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
            // The one before the last, and within its time: but not the one before the current.
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(SampleToken(family: 1, generation: 3), at: 2_340_001))
            }
            try expect(try await !store.isGood(1), "the family has ended")
            try await expectGrantRefusal(.refreshTokenNotFound) {
                try await store.refresh(.sample(token, at: 2_340_002))
            }
        },
        ConformanceCheck("replaces a successor whose answer was lost, for 30 seconds") { store in
            try await store.link()
            let first = SampleToken(family: 1)
            try await store.refresh(.sample(first, at: 2_100_000))
            let again = try await store.refresh(.sample(first, successor: 1, at: 2_129_999))
            try expectEqual(again.family.refreshToken?.digest, first.next(1).digest)
            try expectEqual(again.family.refreshToken?.generation, 1)
            // The time runs from the first rotation.
            try await store.refresh(.sample(first.next(1), at: 2_129_999))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(first, successor: 2, at: 2_129_999))
            }
        },
        ConformanceCheck("ends the family of a token that comes again too late, or was replaced") { store in
            let grant = try await store.link(1)
            try await store.refresh(.sample(SampleToken(family: 1), at: 2_100_000))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(SampleToken(family: 1), successor: 1, at: 2_130_000))
            }
            try expectEqual(
                try await store.allEvents().last?.grant,
                GrantReference(id: grant.id, oauthClientID: "phone", reason: .tokenReused))
            try await store.link(2)
            let second = SampleToken(family: 2)
            try await store.refresh(.sample(second, at: 2_100_000))
            try await store.refresh(.sample(second, successor: 1, at: 2_100_001))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(second.next(0), at: 2_100_002))
            }
            try expect(try await !store.isGood(2), "the family has ended")
        },
        ConformanceCheck("keeps a grant with a code that waits when a refresh token is used again") { store in
            let grant = try await store.link(1)
            try await store.authorize(.sample(2, account: grant.accountID, at: 2_100_000))
            try await store.refresh(.sample(SampleToken(family: 1), at: 2_100_000))
            try await expectGrantRefusal(.refreshTokenReused) {
                try await store.refresh(.sample(SampleToken(family: 1), successor: 1, at: 2_130_000))
            }
            try expect(try await !store.isGood(1), "the family has ended")
            try await store.redeem(.sample(2, at: 2_140_000))
            try expect(try await store.isGood(2), "the code was good")
        },
        ConformanceCheck("leaves a token alone that is not rotated, and several beside each other") { store in
            let grant = try await store.link(1, client: "google", isNative: false, forGoogle: true)
            try await store.authorize(.sample(2, account: grant.accountID, client: "google"))
            try await store.redeem(.sample(2, client: "google", isNative: false, forGoogle: true))
            for _ in 0..<3 {
                for family in [1, 2] as [UInt64] {
                    let tokens = try await store.refresh(
                        .sample(SampleToken(family: family), client: "google", successor: nil))
                    try expect(!tokens.hasNewRefreshToken, "there is no new one")
                    try expectEqual(tokens.family.refreshToken?.digest, SampleToken(family: family).digest)
                }
            }
            try await expectGrantRefusal(.refreshTokenForged) {
                try await store.refresh(
                    .sample(SampleToken(family: 1, variant: 9), client: "google", successor: nil))
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
            let forged = PresentedRefreshToken(
                familyID: .sample(1), familySecretDigest: .hash("guess"), digest: token.digest)
            try await expectGrantRefusal(.refreshTokenForged) {
                try await store.refresh(
                    RefreshCommand(
                        oauthClientID: "phone", presented: forged, successor: nil, scope: nil,
                        clientScopes: .sample, familyExpiresAt: 900_000_000, moment: 2_100_000))
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
            // Later than a lost response can be repeated.
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
