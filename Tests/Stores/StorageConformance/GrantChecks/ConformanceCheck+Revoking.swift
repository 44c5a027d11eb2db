import AppleAccounts
import AuthorizationServer
import Cryptography

extension ConformanceCheck {
    static let revoking = [
        ConformanceCheck("ends a family at the wish of its client, and the grant with the last") { store in
            let grant = try await store.link(1)
            try await store.authorize(.sample(2, account: grant.accountID))
            try await store.redeem(.sample(2))
            try await store.revoke(.sample(SampleToken(family: 1)))
            try expect(try await !store.isGood(1), "the one family has ended")
            try expect(try await store.isGood(2), "the other has not")
            try expect(!(try await store.eventKinds()).contains(.grantRevoked), "the grant goes on")
            _ = try await store.carryOut(
                .revoke(
                    RevokeCommand(
                        oauthClientID: "phone", token: .access(familyID: .sample(2)), moment: 2_200_000)))
            try expectEqual(try await store.grants(of: grant.accountID), [])
            let last = try unwrap(try await store.allEvents().last)
            try expectEqual(last.kind, .grantRevoked)
            try expectEqual(last.clientID, "com.example.app")
            try expectEqual(
                last.grant, GrantReference(id: grant.id, oauthClientID: "phone", reason: .clientRevoked))
            try await expectReports([], in: store)
        },
        ConformanceCheck("leaves alone what another client revokes, or what is unknown") { store in
            try await store.link()
            try await store.revoke(.sample(SampleToken(family: 1), client: "tablet"))
            try await store.revoke(.sample(SampleToken(family: 2)))
            try await store.revoke(
                RevokeCommand(
                    oauthClientID: "phone", token: .refresh(SampleToken.forged(family: 1)), moment: 2_200_000)
            )
            _ = try await store.carryOut(
                .revoke(
                    RevokeCommand(
                        oauthClientID: "tablet", token: .access(familyID: .sample(1)), moment: 2_200_000)))
            try expect(try await store.isGood(1), "it is good still")
        },
        ConformanceCheck("keeps a grant whose last family is revoked while a code waits") { store in
            let grant = try await store.link(1)
            try await store.authorize(.sample(2, account: grant.accountID, at: 2_100_000))
            try await store.revoke(.sample(SampleToken(family: 1)))
            try await store.redeem(.sample(2))
            try expect(try await store.isGood(2), "the code was good")
        },
        ConformanceCheck("ends a grant at the wish of the app's backend, for callers of its app") { store in
            let grant = try await store.link(client: "google", isNative: false, forGoogle: true)
            let account = grant.accountID
            let other = try await store.signIn(.sample(key: .sample("other"))).account
            let wrong: [EndGrantCommand] = [
                .sample(GrantID(.sample(9)), of: account), .sample(grant.id, of: other.id),
                .sample(grant.id, of: account, scope: .only(["com.example.other"])),
                .sample(grant.id, of: account, scope: .only([])),
            ]
            for command in wrong {
                try await expectGrantRefusal(.grantNotFound) { try await store.carryOut(.end(command)) }
            }
            try expect(try await store.isGood(1), "it is good still")
            let scope = AppScope.only(["com.example.app"])
            try expectEqual(
                try await store.carryOut(.end(.sample(grant.id, of: account, scope: scope))), .ended(grant))
            try expect(try await !store.isGood(1), "it has ended")
            try await expectGrantRefusal(.grantNotFound) {
                try await store.carryOut(.end(.sample(grant.id, of: account)))
            }
            try expectEqual(try await store.allEvents().last?.grant?.reason, .unlinked)
            try await expectReports([SampleToken(family: 1)], in: store)
        },
        ConformanceCheck("ends all grants of an account for callers of their app, and no others") { store in
            let grant = try await store.link(1, client: "google", isNative: false, forGoogle: true)
            try await store.authorize(.sample(2, account: grant.accountID, client: "tablet"))
            let other = try await store.link(3, key: .sample("other"))
            func end(_ scope: AppScope) async throws -> GrantOutcome {
                try await store.carryOut(
                    .endAll(
                        EndGrantsCommand(
                            accountID: grant.accountID, scope: scope, reason: .unlinked, moment: 2_300_000)))
            }
            try expectEqual(try await end(.only(["com.example.other"])), .endedAll([]))
            guard case .endedAll(let ended) = try await end(.only(["com.example.app"])) else {
                throw ConformanceFailure(description: "an end had another outcome")
            }
            try expectEqual(ended.map(\.oauthClientID.rawValue).sorted(), ["google", "tablet"])
            try expectEqual(try await store.grants(of: grant.accountID), [])
            try await expectGrantRefusal(.codeNotFound) {
                try await store.redeem(.sample(2, client: "tablet"))
            }
            try expectEqual(try await store.eventKinds().suffix(2), [.grantRevoked, .grantRevoked])
            try await expectReports([SampleToken(family: 1)], in: store)
            try expectEqual(try await end(.all), .endedAll([]))
            try expectEqual(try await store.grants(of: other.accountID).map(\.id), [other.id])
        },
        ConformanceCheck("ends a grant for a user whose sign-in still counts") { store in
            let grant = try await store.link(1)
            func end(at authenticatedAt: Moment) -> GrantCommand {
                .end(
                    EndGrantCommand(
                        grantID: grant.id, accountID: grant.accountID, scope: .all, reason: .unlinked,
                        moment: 2_300_000,
                        authentication: UserAuthentication(
                            clientID: "com.example.app", authenticatedAt: authenticatedAt)))
            }
            let unknown = EndGrantCommand(
                grantID: grant.id, accountID: grant.accountID, scope: .all, reason: .unlinked,
                moment: 2_300_000,
                authentication: UserAuthentication(
                    clientID: "com.example.other", authenticatedAt: 1_000_000))
            try await expectGrantRefusal(.credentialRevoked) { try await store.carryOut(.end(unknown)) }
            try expectEqual(try await store.grants(of: grant.accountID).map(\.id), [grant.id])
            try expectEqual(try await store.carryOut(end(at: 1_000_000)), .ended(grant))
        },
        ConformanceCheck("notes the day of the last use once, and never an earlier day") { store in
            let day = 86_400_000 as Int64
            let account = try await store.signIn(.sample()).account
            let made = try await store.authorize(.sample(1, account: account.id))
            try expectEqual(made.lastUsedAt, nil)
            try expectEqual(try await store.grants(of: account.id)[0].lastUsedAt, nil)
            try expectEqual(
                try await store.redeem(.sample(1)).grant.lastUsedAt, Moment(milliseconds: 0))
            let first = SampleToken(family: 1)
            let refreshed = try await store.refresh(.sample(first, at: Moment(milliseconds: day + 5)))
            try expectEqual(refreshed.grant.lastUsedAt, Moment(milliseconds: day))
            try expectEqual(try await store.grants(of: account.id)[0].lastUsedAt, Moment(milliseconds: day))
            // A replica whose clock is behind.
            try await store.refresh(.sample(first.next(), at: Moment(milliseconds: day - 5)))
            try expectEqual(try await store.grants(of: account.id)[0].lastUsedAt, Moment(milliseconds: day))
        },
        ConformanceCheck("ends the oldest family when a client has too many") { store in
            let account = try await store.signIn(.sample()).account
            let few = FamilyLimits(perClient: 3, perAccount: nil)
            for number in 1...5 as ClosedRange<UInt64> {
                let moment = Moment(milliseconds: 2_000_000 + Int64(number) * 10)
                try await store.authorize(.sample(number, account: account.id, at: moment))
                try await store.redeem(.sample(number, limits: few, at: moment))
            }
            for family in 1...5 as ClosedRange<UInt64> {
                try expectEqual(try await store.isGood(family), family > 2)
            }
        },
        ConformanceCheck("ends the oldest family of the native clients, and never a link with Google") {
            store in
            let account = try await store.signIn(.sample()).account
            let few = FamilyLimits(perClient: 10, perAccount: 3)
            for number in 1...6 as ClosedRange<UInt64> {
                let client: OAuthClientID = number == 1 ? "google" : number == 3 ? "web" : "native-\(number)"
                let moment = Moment(milliseconds: 2_000_000 + Int64(number) * 10)
                try await store.authorize(.sample(number, account: account.id, client: client, at: moment))
                try await store.redeem(
                    .sample(
                        number, client: client, isNative: number != 1 && number != 3, limits: few,
                        at: moment))
            }
            for family in 1...6 as ClosedRange<UInt64> {
                try expectEqual(try await store.isGood(family), family != 2)
            }
            let last = try unwrap(try await store.allEvents().last { $0.kind == .grantRevoked })
            try expectEqual(
                last.grant,
                GrantReference(id: GrantID(.sample(2)), oauthClientID: "native-2", reason: .replaced))
        },
        ConformanceCheck("keeps a grant with a code that waits when a limit ends its last family") { store in
            let account = try await store.signIn(.sample()).account
            let few = FamilyLimits(perClient: 10, perAccount: 1)
            try await store.authorize(.sample(1, account: account.id, client: "native-1"))
            try await store.redeem(.sample(1, client: "native-1", limits: few))
            try await store.authorize(.sample(2, account: account.id, client: "native-1", at: 2_020_000))
            try await store.authorize(.sample(3, account: account.id, client: "native-2", at: 2_020_000))
            try await store.redeem(.sample(3, client: "native-2", limits: few, at: 2_020_000))
            try expect(try await !store.isGood(1), "its family has ended")
            try await store.redeem(.sample(2, client: "native-1", at: 2_030_000))
            try expect(try await store.isGood(2), "the code was good")
        },
        ConformanceCheck("bounds the families of a grant that have no refresh token") { store in
            let account = try await store.signIn(.sample()).account
            let most = UInt64(GrantWorkingSet.mostAccessFamilies)
            for number in 1...(most + 2) {
                // The last two are an hour later, because an hour has no more than 100 new families. The second
                // family is alive by then, the first is not.
                let moment = Moment(
                    milliseconds: number > most
                        ? 5_600_009 + Int64(number - most) : 2_000_000 + Int64(number) * 10)
                try await store.authorize(.sample(number, account: account.id, client: "web", at: moment))
                try await store.redeem(
                    .sample(number, client: "web", isNative: false, hasRefreshToken: false, at: moment))
            }
            try expectEqual(try await store.isGood(2), false)
            try expectEqual(try await store.isGood(3), true)
        },
    ]

    /// Checks that each of these tokens is with one event of the feed, for the report to Google, and no other
    /// token is.
    static func expectReports(
        _ tokens: Set<SampleToken>, in store: some AccountStore, line: Int = #line
    ) async throws {
        let told = try await store.allEvents().filter { $0.grant?.endedToken != nil }
        try expectEqual(told.count, tokens.count, line: line)
        try expectEqual(
            Set(told.compactMap(\.grant?.endedToken)), Set(tokens.map(\.doubleSHA512)), line: line)
        try expect(
            told.allSatisfy { $0.grant?.oauthClientID == "google" }, "they are of Google's client",
            line: line)
    }
}

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
