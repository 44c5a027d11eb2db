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

extension ConformanceCheck {
    static let authorizing = [
        ConformanceCheck("writes a grant with the code, once for each account and client") { store in
            let account = try await store.signIn(.sample()).account
            let first = try await store.authorize(.sample(1, account: account.id, scope: "openid"))
            try expectEqual(first.id, GrantID(.sample(1)))
            try expectEqual(first.authorizedAt, 1_000_000)
            let second = try await store.authorize(
                .sample(2, account: account.id, scope: "email openid", at: 2_500_000))
            try expectEqual(second.id, first.id)
            try expectEqual(second.scope, "openid email")
            try expectEqual(second.createdAt, first.createdAt)
            try expectEqual(second.consentedAt, 2_500_000)
            try await store.authorize(.sample(3, account: account.id, client: "tablet"))
            try expectEqual(
                try await store.grants(of: account.id).map(\.oauthClientID), ["phone", "tablet"])
            try expectEqual(try await store.grant(of: account.id, for: "phone"), second)
            try expectEqual(try await store.grant(of: account.id, for: "unknown"), nil)

            let events = try await store.allEvents().filter { $0.kind == .grantCreated }
            try expectEqual(events.map(\.clientID), ["com.example.app", "com.example.app"])
            try expectEqual(events.map(\.accountID), [account.id, account.id])
            try expectEqual(events.map(\.key), [.sample(), .sample()])
            try expectEqual(
                events.map(\.grant),
                [
                    GrantReference(id: first.id, oauthClientID: "phone"),
                    GrantReference(id: GrantID(.sample(3)), oauthClientID: "tablet"),
                ])
        },
        ConformanceCheck("refuses a code without an authorized credential, and writes nothing") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            func authorize(
                _ account: AccountID, app: ClientID = "com.example.app", authenticatedAt: Moment = 1000,
                after: Moment? = nil
            ) async throws -> GrantRecord {
                try await store.authorize(
                    .sample(
                        account: account, app: app, authenticatedAt: authenticatedAt,
                        authenticatedAfter: after))
            }
            try await expectGrantRefusal(.accountNotFound) { try await authorize(AccountID(.sample(99))) }
            try await expectGrantRefusal(.credentialRevoked) {
                try await authorize(account.id, app: "com.example.other")
            }
            try await expectGrantRefusal(.authenticationTooOld) {
                try await authorize(account.id, after: 1001)
            }
            try await store.notify(.sample(.consentRevoked, at: 2000))
            try await expectGrantRefusal(.credentialRevoked) { try await authorize(account.id) }
            try await store.signIn(.sample(authorizedAt: 3000))
            // A session from before the revocation has ended with it.
            try await expectGrantRefusal(.credentialRevoked) { try await authorize(account.id) }
            try await store.notify(.sample(.appleAccountDeleted, at: 4000))
            try await expectGrantRefusal(.appleAccountDeleted) {
                try await authorize(account.id, authenticatedAt: 3000)
            }
            try await store.erase(.sample(account: account, at: 9000))
            try await expectGrantRefusal(.accountErased) { try await authorize(account.id) }
            try expectEqual(try await store.grants(of: account.id), [])
            try expect(!(try await store.eventKinds()).contains(.grantCreated), "no grant is told")
        },
        ConformanceCheck("keeps a bounded number of codes of a grant, the newest") { store in
            let account = try await store.signIn(.sample()).account
            for number in 1...(UInt64(GrantWorkingSet.mostCodes) + 1) {
                let moment = Moment(milliseconds: 2_000_000 + Int64(number))
                try await store.authorize(.sample(number, account: account.id, at: moment))
            }
            try await expectGrantRefusal(.codeNotFound) { try await store.redeem(.sample(1)) }
            try await store.redeem(.sample(2))
        },
        ConformanceCheck("bounds the new grants of an account and a client within an hour") { store in
            let account = try await store.signIn(.sample()).account
            func agree(_ number: UInt64, _ client: OAuthClientID = "phone", at moment: Moment) async throws {
                let grant = try await store.authorize(
                    .sample(number, account: account.id, client: client, at: moment))
                _ = try await store.carryOut(.end(.sample(grant.id, of: account.id, at: moment)))
            }
            let most = UInt64(GrantPace.most)
            for number in 1...most {
                try await agree(number, at: Moment(milliseconds: 2_000_000 + Int64(number)))
            }
            let pace = try await store.pace(of: account.id, for: "phone")
            try expectEqual(pace?.count, GrantPace.most)
            try expectEqual(pace?.isFull(at: 5_600_000), true)
            try expectEqual(pace?.isFull(at: 5_600_001), false)
            try expectEqual(try await store.pace(of: account.id, for: "tablet"), nil)
            try await expectGrantRefusal(.tooManyGrants) { try await agree(most + 1, at: 5_600_000) }
            try await expectGrantRefusal(.tooManyGrants) {
                try await store.carryOut(
                    .assertion(.sample(most + 1, account: account.id, client: "phone", at: 5_600_000)))
            }
            let events = try await store.allEvents().count
            try expectEqual(try await store.grants(of: account.id), [])
            // Other clients and a later time are another matter.
            try await agree(most + 2, "tablet", at: 5_600_000)
            try expectEqual(try await store.allEvents().count, events + 2)
            try await agree(most + 3, at: 5_600_001)
        },
        ConformanceCheck("finds the one account with a verified address that is no relay") { store in
            func find(_ email: String) async throws -> AccountID? {
                try await store.account(withVerifiedEmail: email, app: "com.example.app", team: "A1B2C3D4E5")
            }
            let account = try await store.signIn(.sample(email: .sample("Ada@example.com"))).account
            try await store.signIn(
                .sample(key: .sample("relay"), email: .sample("r@example.com", isPrivate: true)))
            // Apple sends no is_private_email with most real addresses.
            let unknown = try await store.signIn(
                .sample(key: .sample("unknown"), email: .sample("u@example.com", isPrivate: nil))
            ).account
            try await store.signIn(
                .sample(key: .sample("unverified"), email: .sample("v@example.com", isVerified: false)))
            try await store.signIn(.sample(key: .sample("one"), email: .sample("two@example.com")))
            try await store.signIn(.sample(key: .sample("two"), email: .sample("two@example.com")))
            try await store.signIn(
                .sample(
                    key: .sample("other"), clientID: "com.example.other", email: .sample("o@example.com")))
            // Another app's account of the team has the address too, and so has one that Google has made.
            try await store.signIn(.sample(key: .sample("shared"), email: .sample("s@example.com")))
            try await store.signIn(
                .sample(
                    key: .sample("shared-too"), clientID: "com.example.other",
                    email: .sample("s@example.com")))
            try await store.signIn(.sample(key: .sample("google:1"), email: .sample("g@example.com")))
            try await store.signIn(.sample(key: .sample("google:2"), email: .sample("h@example.com")))
            try await store.signIn(.sample(key: .sample("apple"), email: .sample("h@example.com")))
            try expectEqual(try await find("ada@EXAMPLE.com"), account.id)
            try expectEqual(try await find("u@example.com"), unknown.id)
            for email in ["r", "v", "two", "o", "s", "g", "h", "nobody"] {
                try expectEqual(try await find("\(email)@example.com"), nil)
            }
        },
    ]
}

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
