import AppleAccounts
import AuthorizationServer

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
