import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    static let suspending = [
        ConformanceCheck("suspends the tokens and codes of a disabled account, and ends none") { store in
            let grant = try await store.link(1)
            let account = try unwrap(try await store.account(grant.accountID))
            try await store.authorize(.sample(2, account: account.id))
            try await store.change(DisableCommand.sample(account, until: 2_500_000))
            let status = try unwrap(try await store.status(ofFamily: .sample(1)))
            try expect(!status.isGood(at: 2_400_000), "a token of a disabled account")
            try expect(status.isGood(at: 2_500_000), "the time of the disabling is over by itself")
            try expectEqual(
                try await store.status(of: account.id, app: "com.example.app")?.isDisabled(at: 2_400_000),
                true)
            try await expectGrantRefusal(.accountDisabled) { try await store.refresh(.sample()) }
            try await expectGrantRefusal(.accountDisabled) { try await store.redeem(.sample(2)) }
            try await expectGrantRefusal(.accountDisabled) {
                try await store.authorize(.sample(3, account: account.id))
            }
            try await expectGrantRefusal(.accountDisabled) {
                try await store.carryOut(.assertion(.sample(4, account: account.id, at: 2_100_000)))
            }
            try expectEqual(try await store.grants(of: account.id), [grant])
            try expect(!(try await store.eventKinds()).contains(.grantRevoked), "nothing has ended")
            try await expectReports([], in: store)
            try await store.change(EnableCommand.sample(account))
            try expect(try await store.isGood(1), "good again")
            try expectEqual(try await store.refresh(.sample()).family.refreshToken?.generation, 1)
            try await store.redeem(.sample(2))
        },
        ConformanceCheck("ends tokens of a disabled account that a client or its backend ends") { store in
            let grant = try await store.link(1)
            let account = try unwrap(try await store.account(grant.accountID))
            try await store.change(DisableCommand.sample(account))
            try await store.revoke(.sample())
            try expectEqual(try await store.grants(of: account.id), [])
            try expectEqual(try await store.eventKinds().last, .grantRevoked)
        },
        ConformanceCheck("signs out everywhere: ends what others hold, and reports what Google held") {
            store in
            let first = try await store.link(1)
            let account = try unwrap(try await store.account(first.accountID))
            try await store.link(2, client: "google", isNative: false, forGoogle: true)
            try await store.authorize(.sample(3, account: account.id, client: "tablet"))
            let changed = try await store.change(SignOutCommand.sample(account, keptClients: ["google"]))
            try expectEqual(changed.sessionsEndedAt, 2_050_000)
            try expectEqual(try await store.account(account.id), changed)
            try expectEqual(try await store.grants(of: account.id).map(\.oauthClientID), ["google"])
            try expect(try await store.isGood(2), "the link with Google stays")
            try expect(try await !store.isGood(1), "other tokens end")
            try await expectGrantRefusal(.codeNotFound) {
                try await store.redeem(.sample(3, client: "tablet"))
            }
            let told = try await store.allEvents().suffix(3)
            try expectEqual(told.map(\.kind), [.grantRevoked, .grantRevoked, .sessionsEnded])
            try expectEqual(told.compactMap(\.grant?.reason), [.signedOut, .signedOut])
            try expectEqual(told.map(\.source), [nil, nil, nil])
            try await expectReports([], in: store)
            try await store.change(SignOutCommand.sample(account, at: 2_060_000))
            try expectEqual(try await store.grants(of: account.id), [])
            try await expectReports([SampleToken(family: 2)], in: store)
            try expectEqual(try await store.credential().state, .authorized)
        },
        ConformanceCheck("writes no code for an authentication from before a sign-out") { store in
            let account = try await store.signIn(.sample()).account
            try await store.change(SignOutCommand.sample(account, at: 2_050_000))
            try await expectGrantRefusal(.credentialRevoked) {
                try await store.authorize(
                    .sample(1, account: account.id, authenticatedAt: 2_050_000, at: 2_060_000))
            }
            try await store.authorize(
                .sample(1, account: account.id, authenticatedAt: 2_050_001, at: 2_060_000))
        },
    ]
}
