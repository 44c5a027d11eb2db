import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    static let credentialEnds = [
        ConformanceCheck("ends grants with the consent, in whatever order Apple's word comes") { store in
            let grant = try await store.link(1, authorizedAt: 1000)
            try await store.authorize(
                .sample(2, account: grant.accountID, client: "web", authenticatedAt: 1000))
            // A later sign-in keeps the credential authorized, but not what was granted before.
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.authorize(
                .sample(3, account: grant.accountID, client: "tv", authenticatedAt: 5000))
            try await store.redeem(.sample(3, client: "tv"))
            try expectEqual(try await store.notify(.sample(at: 3000)), .unchanged)
            try expectEqual(try await store.credential().state, .authorized)
            try expectEqual(try await store.grants(of: grant.accountID).map(\.oauthClientID), ["tv"])
            try expect(try await !store.isGood(1), "what was granted before has ended")
            try expect(try await store.isGood(3), "what was granted since goes on")
            try await expectGrantRefusal(.codeNotFound) { try await store.redeem(.sample(2, client: "web")) }
            let told = try await store.allEvents().filter { $0.kind == .grantRevoked }
            try expectEqual(told.map(\.grant?.oauthClientID), ["phone", "web"])
            try expectEqual(told.map(\.grant?.reason), [.consentRevoked, .consentRevoked])
            try expectEqual(told.map(\.source), [.notification, .notification])
            try expectEqual(told.map(\.moment), [3000, 3000])
            try expectEqual(told.map(\.key), [.sample(), .sample()])
            // Once more: nothing more ends, and nothing more is told.
            try expectEqual(try await store.notify(.sample(at: 3000)), .duplicate)
            try await store.notify(.sample(at: 5000, identifier: "later"))
            try expectEqual(try await store.grants(of: grant.accountID), [])
        },
        ConformanceCheck("ends the older families of a grant that goes on") { store in
            let grant = try await store.link(
                1, client: "google", isNative: false, forGoogle: true, authorizedAt: 1000)
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.authorize(
                .sample(2, account: grant.accountID, client: "google", authenticatedAt: 5000))
            try await store.redeem(.sample(2, client: "google", isNative: false, forGoogle: true))
            try await store.notify(.sample(at: 3000))
            try expect(try await !store.isGood(1), "the older family has ended")
            try expect(try await store.isGood(2), "the younger goes on")
            try expect(!(try await store.eventKinds()).contains(.grantRevoked), "and the grant")
            try await expectReports([SampleToken(family: 1)], in: store)
        },
        ConformanceCheck("ends the grants of the app that consent was withdrawn from, and no others") {
            store in
            let grant = try await store.linkInTwoApps()
            let stranger = try await store.link(3, key: .sample("stranger"), authorizedAt: 1000)
            try await store.notify(.sample(clientID: "com.example.other", at: 3000))
            try expectEqual(try await store.grants(of: grant.accountID), [grant])
            try await store.notify(.sample(at: 3000))
            try expectEqual(try await store.grants(of: grant.accountID), [])
            try expectEqual(try await store.grants(of: stranger.accountID), [stranger])
        },
        ConformanceCheck("ends all grants with the Apple Account") { store in
            let grant = try await store.linkInTwoApps()
            // The notification comes to one of the apps.
            try await store.notify(.sample(.appleAccountDeleted, at: 3000))
            try expectEqual(try await store.grants(of: grant.accountID), [])
            try expect(try await !store.isGood(1), "its tokens have ended")
            let told = try await store.allEvents().filter { $0.kind == .grantRevoked }
            try expectEqual(told.map(\.clientID), ["com.example.app", "com.example.other"])
            try expectEqual(told.map(\.grant?.reason), [.appleAccountDeleted, .appleAccountDeleted])
        },
        ConformanceCheck("ends grants with an erasure, before the last event of the account") { store in
            let grant = try await store.link(
                1, client: "google", isNative: false, forGoogle: true, authorizedAt: 1000)
            let account = try unwrap(try await store.account(grant.accountID))
            try await store.authorize(.sample(2, account: account.id, client: "web", authenticatedAt: 1000))
            try await store.erase(.sample(account: account, at: 9000))
            try expectEqual(try await store.grants(of: account.id), [])
            try expect(try await store.status(ofFamily: .sample(1)) == nil, "the family is gone")
            try expect(
                try await store.status(of: account.id, app: "com.example.app") == nil, "and the user")
            try await expectGrantRefusal(.codeNotFound) { try await store.redeem(.sample(2, client: "web")) }
            let told = try await store.allEvents().suffix(3)
            try expectEqual(told.map(\.kind), [.grantRevoked, .grantRevoked, .accountErased])
            try expectEqual(told.prefix(2).map(\.grant?.reason), [.erased, .erased])
            try expectEqual(told.map(\.subject), [nil, nil, nil])
            try await expectReports([SampleToken(family: 1)], in: store)
            // One who comes back has nothing of it.
            let again = try await store.signIn(.sample(authorizedAt: 20_000)).account
            try expectEqual(try await store.grants(of: again.id), [])
            try await expectGrantRefusal(.refreshTokenNotFound) {
                try await store.refresh(.sample(client: "google", salt: nil))
            }
        },
        ConformanceCheck("moves grants along with a transferred account") { store in
            let grant = try await store.link(1, authorizedAt: 1000)
            let account = try unwrap(try await store.account(grant.accountID))
            let to = SubjectKey.sample(team: "OTHERTEAM1", "new-name")
            try await store.transfer(
                TransferCommand(
                    accountID: account.id, from: .sample(), to: to, clientID: "com.example.app", email: nil,
                    createdAt: account.createdAt, receivedAt: 8000))
            try expectEqual(try await store.grants(of: account.id), [grant])
            try expect(try await store.isGood(1), "its tokens are good")
            try await store.refresh(.sample())
            let status = try unwrap(try await store.status(ofFamily: .sample(1)))
            try expectEqual(status.status.account.team, "OTHERTEAM1")
            try await store.notify(.sample(key: to, at: 9000))
            try expectEqual(try await store.grants(of: account.id), [])
            try expectEqual(try await store.allEvents().last?.key, to)
        },
        ConformanceCheck("ends the grants of a transferred account that Apple has revoked at its new team") {
            store in
            let grant = try await store.link(1, authorizedAt: 1000)
            let account = try unwrap(try await store.account(grant.accountID))
            let to = SubjectKey.sample(team: "OTHERTEAM1", "new-name")
            try await store.notify(.sample(key: to, at: 3000))
            try expectEqual(try await store.grants(of: account.id), [grant])
            try await store.transfer(
                TransferCommand(
                    accountID: account.id, from: .sample(), to: to, clientID: "com.example.app", email: nil,
                    createdAt: account.createdAt, receivedAt: 8000))
            try expectEqual(try await store.grants(of: account.id), [])
            // A later sign-in does not bring them back.
            try await store.signIn(.sample(key: to, authorizedAt: 9000))
            try expect(try await !store.isGood(1), "they have ended")
        },
        ConformanceCheck("sees in one batch what notifications before and sign-ins behind have done") {
            store in
            let grant = try await store.link(1, authorizedAt: 1000)
            let result = try await store.commit([
                .signIn(.sample(authorizedAt: 2000)), .notification(.sample(at: 1500)),
                .signIn(.sample(authorizedAt: 3000, firstName: "Ada")), .notification(.sample(at: 2500)),
            ])
            try expectEqual(result.results.count, 4)
            try expectEqual(try await store.grants(of: grant.accountID), [])
            try expectEqual(try await store.eventKinds().filter { $0 == .grantRevoked }.count, 1)
            try expectEqual(result.lastEventSequence, try await store.lastEventSequence())
        },
    ]
}

extension AuthorizationStore where Self: AccountStore {
    /// Signs one user in to two apps, and links each with a client. Returns the grant of the first app.
    fileprivate func linkInTwoApps() async throws -> GrantRecord {
        let grant = try await link(1, authorizedAt: 1000)
        try await signIn(.sample(clientID: "com.example.other", authorizedAt: 1000))
        try await authorize(
            .sample(
                2, account: grant.accountID, client: "other", app: "com.example.other",
                authenticatedAt: 1000))
        return grant
    }
}

extension ConformanceCheck {
    static let erasureTokens = [
        ConformanceCheck("takes the tokens of an erasure step by step to its end") { store in
            let record = try await erased(in: store)
            func claim(_ moment: Moment, of id: ErasureID? = nil) async throws -> [ClaimedErasureToken] {
                try await store.claimErasureTokens(
                    limit: 9, at: moment, leaseUntil: moment.advanced(byMilliseconds: 1000), of: id)
            }
            try expectEqual(try await claim(4999), [])
            try expectEqual(try await claim(9000, of: ErasureID(.sample(99))), [])
            let claimed = try await claim(5000, of: record.id)
            try expectEqual(claimed.map(\.token.id), [.sample(1), .sample(2)])
            try expectEqual(claimed.map(\.isInterrupted), [false, false])
            try expectEqual(claimed.map(\.token.attempts), [1, 1])
            try expectEqual(claimed.map(\.accountID), [record.accountID, record.accountID])
            try expectEqual(claimed.map(\.deadline), [record.deadline, record.deadline])
            try expectEqual(try await store.earliestErasureDeadline(), record.deadline)
            try expectEqual(claimed.map(\.token.sealed), [.sample("token 1"), .sample("token 2")])
            try expectEqual(try await claim(5999), [])

            var first = claimed[0].token
            first.step = .prove
            first.nextAttemptAt = 5100
            first.cause = "server_failed"
            try await store.save(first, of: record.id, at: 5050)
            let again = try await claim(5100)
            try expectEqual(again.map(\.token.step), [.prove])
            try expectEqual(again.map(\.token.cause), ["server_failed"])
            try expectEqual(again.map(\.token.attempts), [2])
            try expectEqual(again.map(\.isInterrupted), [false])
            first.step = .done(.provenRevoked)
            first.cause = nil
            try await store.save(first, of: record.id, at: 5200)
            let between = try unwrap(try await store.erasure(record.id))
            try expectEqual(between.finishedAt, nil)
            try expectEqual(between.tokens[0].step, .done(.provenRevoked))
            try expectEqual(between.tokens[0].sealed, nil)

            let second = try await claim(6000)
            try expectEqual(second.map(\.isInterrupted), [true])
            var last = second[0].token
            last.step = .done(.notRevoked)
            last.cause = "deadline"
            try await store.save(last, of: record.id, at: 6100)
            let end = try unwrap(try await store.erasure(record.id))
            try expectEqual(end.finishedAt, 6100)
            try expectEqual(end.tokens[1].cause, "deadline")
            try expectEqual(try await store.earliestErasureDeadline(), nil)
            try expectEqual(try await store.nextDue(), AppleTokensDue())
            try expectEqual(try await store.sealedCount(), 0)

            // A late report of an earlier step changes nothing.
            last.step = .revoke
            last.sealed = .sample("token 2")
            try await store.save(last, of: record.id, at: 6200)
            try expectEqual(try await store.erasure(record.id), end)
        },
        ConformanceCheck("leaves a code that is being exchanged to its claimer") { store in
            let account = try await store.signIn(.sample(authorizationCode: .sample(1))).account
            _ = try await store.claimCodes(limit: 1, at: 1_100_000, leaseUntil: 1_130_000)
            let record = try await store.erase(.sample(account: account, at: 1_110_000))
            try expectEqual(record.tokens.map(\.isClaimed), [true])
            try expectEqual(try await store.erasure(record.id), record)
            let early = try await store.claimErasureTokens(
                limit: 9, at: 1_129_999, leaseUntil: 1_200_000, of: nil)
            try expectEqual(early, [])
            let late = try await store.claimErasureTokens(
                limit: 9, at: 1_130_000, leaseUntil: 1_200_000, of: nil)
            try expectEqual(late.map(\.isInterrupted), [true])
        },
        ConformanceCheck("takes the token of an exchange that the erasure overtook") { store in
            let account = try await store.signIn(.sample(authorizationCode: .sample(1))).account
            _ = try await store.claimCodes(limit: 1, at: 1_100_000, leaseUntil: 1_130_000)
            func adopt() async throws -> Bool {
                try await store.adoptErasureToken(
                    codeID: .sample(1), tokenID: .sample(7), sealed: .sample("token 7"), at: 1_120_000)
            }
            try expect(try await !adopt(), "there is no erasure yet")
            let record = try await store.erase(.sample(account: account, at: 1_110_000))
            try await expectRefusal(.accountNotFound) {
                try await store.exchange(.sample(account: account, token: 7))
            }
            try expect(try await adopt(), "the erasure has the code")
            try expect(try await !adopt(), "it has the token now")
            let claimed = try await store.claimErasureTokens(
                limit: 9, at: 1_120_000, leaseUntil: 1_200_000, of: record.id)
            try expectEqual(claimed.map(\.token.id), [.sample(7)])
            try expectEqual(claimed.map(\.token.kind), [.refreshToken])
            try expectEqual(claimed.map(\.token.step), [.revoke])
            try expectEqual(claimed.map(\.token.sealed), [.sample("token 7")])
            try expectEqual(claimed.map(\.isInterrupted), [false])
        },
        ConformanceCheck("gives each token to one of eight claimers at once") { store in
            for number in 1...30 as ClosedRange<UInt64> {
                let account = try await store.hold(number, key: .sample("p\(number)"))
                try await store.erase(.sample(number, account: account))
            }
            let claimed = try await withThrowingTaskGroup(of: [UniqueID].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let tokens = try await store.claimErasureTokens(
                            limit: 10, at: 5_000_000, leaseUntil: 6_000_000, of: nil)
                        return tokens.map(\.token.id)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expectEqual(claimed.sorted(), (1...30).map { .sample($0) })
        },
    ]

    /// Makes an account with tokens of two client IDs, and erases it at 5000.
    private static func erased(in store: any ConformingStore) async throws -> ErasureRecord {
        try await store.hold(1, authorizedAt: 1000)
        let account = try await store.hold(2, issuedTo: "com.example.web", authorizedAt: 2000)
        return try await store.erase(.sample(account: account, at: 5000))
    }
}
