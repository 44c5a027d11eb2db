import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings

extension ConformanceCheck {
    private static let verifier = String(repeating: "v", count: 43)
    private static let challenge = CodeRecord.StoredChallenge(
        text: Base64URL.encode(SHA256Digest.hash(verifier).bytes), isPlain: false)

    static let redeeming = [
        ConformanceCheck("gives tokens for a code, once") { store in
            let account = try await store.signIn(.sample()).account
            var grant = try await store.authorize(.sample(account: account.id))
            let tokens = try await store.redeem(.sample())
            grant.lastUsedAt = 0
            try expectEqual(tokens.grant, grant)
            try expectEqual(tokens.account, try await store.account(account.id))
            try expectEqual(tokens.scope, "openid offline_access")
            try expectEqual(tokens.nonce, "n-1")
            try expectEqual(tokens.family.id, .sample(1))
            try expectEqual(tokens.family.refreshToken?.generation, 0)
            try expectEqual(tokens.family.authenticatedAt, 1_000_000)
            try expect(tokens.hasNewRefreshToken, "there is a refresh token")
            let status = try unwrap(try await store.status(ofFamily: .sample(1)))
            try expectEqual(status.family, tokens.family)
            try expectEqual(status.grant, grant)
            try expectEqual(status.status.account, tokens.account)
            try expect(status.isGood(at: 2_400_000), "it is good")
            try expect(!status.isGood(at: 900_000_000), "it ends")
            try await expectGrantRefusal(.codeRetried) {
                try await store.redeem(.sample(family: 2, at: 2_019_999))
            }
            try expect(try await store.isGood(1), "a retry ends nothing")
            try expect(try await !store.isGood(2), "a retry gives nothing")
        },
        ConformanceCheck("ends what a code gave when it is used again later") { store in
            let grant = try await store.link()
            try await expectGrantRefusal(.codeReused) {
                try await store.redeem(.sample(family: 2, at: 2_011_000))
            }
            try expect(try await !store.isGood(1), "the family has ended")
            try expectEqual(try await store.grants(of: grant.accountID), [])
            try expectEqual(
                try await store.allEvents().last?.grant,
                GrantReference(id: grant.id, oauthClientID: "phone", reason: .tokenReused))
            try await expectGrantRefusal(.codeNotFound) { try await store.redeem(.sample(at: 2_011_000)) }
        },
        ConformanceCheck("keeps a grant that another code has given tokens for") { store in
            let grant = try await store.link(1)
            try await store.authorize(.sample(2, account: grant.accountID))
            try await store.redeem(.sample(2))
            try await expectGrantRefusal(.codeReused) { try await store.redeem(.sample(1, at: 9_000_000)) }
            try expect(try await !store.isGood(1), "the one family has ended")
            try expect(try await store.isGood(2), "the other has not")
        },
        ConformanceCheck("keeps a grant with a code that waits when another code is used again") { store in
            let grant = try await store.link(1)
            try await store.authorize(.sample(2, account: grant.accountID))
            try await expectGrantRefusal(.codeReused) { try await store.redeem(.sample(1, at: 2_021_000)) }
            try expect(try await !store.isGood(1), "the family has ended")
            try expectEqual(try await store.grants(of: grant.accountID).map(\.id), [grant.id])
            try await store.redeem(.sample(2))
            try expect(try await store.isGood(2), "the code was good")
        },
        ConformanceCheck("checks the client, the redirect URI and the verifier before it uses a code up") {
            store in
            let account = try await store.signIn(.sample()).account
            try await store.authorize(.sample(account: account.id, challenge: challenge))
            let wrong: [(GrantRefusal.Code, RedeemCommand)] = [
                (.codeOfAnotherClient, .sample(client: "tablet", verifier: verifier)),
                (.codeOfAnotherClient, .sample(client: "tablet", redirectURI: "x:/", verifier: nil)),
                (.redirectURIMismatch, .sample(redirectURI: "com.example.app:/back/", verifier: verifier)),
                (.redirectURIMismatch, .sample(redirectURI: "com.example.app:/Back", verifier: nil)),
                (.codeVerifierMismatch, .sample(verifier: nil)),
                (.codeVerifierMismatch, .sample(verifier: verifier + "v")),
                // The challenge itself, as if it were plain.
                (.codeVerifierMismatch, .sample(verifier: challenge.text)),
                (.codeNotFound, .sample(7, verifier: verifier)),
                (.codeExpired, .sample(verifier: verifier, at: 2_600_000)),
            ]
            for (code, command) in wrong {
                try await expectGrantRefusal(code) { try await store.redeem(command) }
            }
            try await store.redeem(.sample(verifier: verifier))
            // Nor does what fails before end anything of a code that was used.
            for (code, command) in wrong.prefix(7) {
                let late = RedeemCommand.sample(
                    client: command.oauthClientID, redirectURI: command.redirectURI,
                    verifier: command.codeVerifier, at: 9_000_000)
                try await expectGrantRefusal(code) { try await store.redeem(late) }
            }
            try expect(try await store.isGood(1), "it is good still")
        },
        ConformanceCheck("takes a plain challenge as it is, and no verifier without a challenge") { store in
            let account = try await store.signIn(.sample()).account
            let plain = CodeRecord.StoredChallenge(text: verifier, isPlain: true)
            try await store.authorize(.sample(1, account: account.id, challenge: plain))
            try await store.redeem(.sample(1, verifier: verifier))
            try await store.authorize(.sample(2, account: account.id))
            try await expectGrantRefusal(.codeVerifierMismatch) {
                try await store.redeem(.sample(2, verifier: verifier))
            }
            try await store.redeem(.sample(2))
        },
        ConformanceCheck("does not use a code up while the credential is suspended") { store in
            let account = try await store.hold()
            try await store.authorize(.sample(account: account.id))
            try await store.reject(.sample(account: account, at: 2_000_000))
            try await expectGrantRefusal(.credentialRevoked) { try await store.redeem(.sample()) }
            try await store.signIn(.sample(authorizedAt: 2_005_000))
            try await store.redeem(.sample())
        },
        ConformanceCheck("keeps a code for none of whose scopes its client is configured") { store in
            let account = try await store.signIn(.sample()).account
            try await store.authorize(.sample(account: account.id))
            try await expectGrantRefusal(.scopeWithdrawn) {
                try await store.redeem(.sample(clientScopes: ScopeSet([ScopeToken.email])))
            }
            try expect(try await !store.isGood(1), "no family has begun")
            let tokens = try await store.redeem(.sample(clientScopes: ScopeSet([ScopeToken.openID])))
            try expectEqual(tokens.scope, "openid")
            try expectEqual(tokens.family.scope, "openid offline_access")
        },
        ConformanceCheck("gives a refresh token with the scope offline_access only, where it is asked for") {
            store in
            let account = try await store.signIn(.sample()).account
            try await store.authorize(.sample(1, account: account.id, scope: "openid"))
            let short = try await store.redeem(.sample(1, needsOfflineAccess: true))
            try expectEqual(short.family.refreshToken, nil)
            try expectEqual(short.family.expiresAt, 5_610_000)
            try await store.authorize(.sample(2, account: account.id))
            let long = try await store.redeem(.sample(2, needsOfflineAccess: true))
            try expect(long.hasNewRefreshToken, "there is one")
            try await store.authorize(.sample(3, account: account.id, scope: "openid"))
            try expect(try await store.redeem(.sample(3)).hasNewRefreshToken, "there is one")
        },
    ]
}
