import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    /// Tokens for a native sign-in.
    static let exchanging = [
        ConformanceCheck("gives tokens for a native sign-in, and writes the grant with them") { store in
            let account = try await store.signIn(.sample()).account
            let issued = try await store.exchangeToken(.sample(1, account: account.id))
            try expectEqual(issued.account.id, account.id)
            try expectEqual(try await store.grant(of: account.id, for: "phone"), issued.grant)
            try expect(try await store.isGood(1), "the token is good")
            try await store.refresh(.sample())
            try expectEqual(try await store.eventKinds().filter { $0 == .grantCreated }.count, 1)
            // The next sign-in on another device has tokens of its own.
            let second = try await store.exchangeToken(.sample(2, account: account.id, scope: "devices"))
            try expectEqual(second.grant.id, issued.grant.id)
            try expectEqual(second.grant.scope, "openid email devices")
            try expect(try await store.isGood(2), "the second token is good")
            try await store.notify(.sample(.consentRevoked, at: 1_500_000))
            try expect(!(try await store.isGood(2)), "a revocation ends the tokens")
        },
        ConformanceCheck("gives no token for a sign-in that has ended since, and writes nothing") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            func exchange(_ account: AccountID, app: ClientID = "com.example.app", at moment: Moment = 1000)
                async throws -> IssuedTokens
            {
                try await store.exchangeToken(.sample(account: account, app: app, authenticatedAt: moment))
            }
            try await expectGrantRefusal(.accountNotFound) { try await exchange(AccountID(.sample(99))) }
            try await expectGrantRefusal(.credentialRevoked) {
                try await exchange(account.id, app: "com.example.other")
            }
            try await store.notify(.sample(.consentRevoked, at: 2000))
            try await expectGrantRefusal(.credentialRevoked) { try await exchange(account.id) }
            try await store.signIn(.sample(authorizedAt: 3000))
            try await expectGrantRefusal(.credentialRevoked) { try await exchange(account.id) }
            try await store.erase(.sample(account: account, at: 9000))
            try await expectGrantRefusal(.accountErased) { try await exchange(account.id, at: 3000) }
            try expectEqual(try await store.grants(of: account.id), [])
            try expect(!(try await store.eventKinds()).contains(.grantCreated), "no grant is told")
        },
    ]
}
