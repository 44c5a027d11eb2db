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
