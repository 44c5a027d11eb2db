import AppleAccounts
import AuthorizationServer

// The tokens of whose end Google is told are in the events of the transaction that ends them.
extension ConformanceCheck {
    static let googleReports = [
        ConformanceCheck("keeps the token of a grant that ends with the event, for whatever reason") {
            store in
            let reasons: [GrantEndReason] = [
                .unlinked, .consentRevoked, .appleAccountDeleted, .erased, .signedOut, .tokenReused,
            ]
            var reported: Set<SampleToken> = []
            for (number, reason) in zip(UInt64(1)..., reasons) {
                try await end(try await linkedWithGoogle(number, in: store), number, for: reason, in: store)
                reported.insert(SampleToken(family: number))
                try expectEqual(
                    try await store.allEvents().last { $0.kind == .grantRevoked }?.grant,
                    GrantReference(
                        id: GrantID(.sample(number)), oauthClientID: "google", reason: reason,
                        endedToken: SampleToken(family: number).doubleSHA512))
                try await expectReports(reported, in: store)
            }
            // An event is the same however it is read.
            let all = try await store.allEvents()
            try expectEqual(try await store.events(numbered: all.map(\.sequence)), all)
        },
        ConformanceCheck("keeps no token that Google itself or a newer token of Google has ended") { store in
            let first = try await linkedWithGoogle(1, in: store)
            try await store.revoke(.sample(SampleToken(family: 1), client: "google"))
            try expectEqual(try await store.grants(of: first.id), [])
            let second = try await linkedWithGoogle(2, in: store)
            try await store.authorize(.sample(3, account: second.id, client: "google"))
            try await store.redeem(
                .sample(
                    3, client: "google", isNative: false, forGoogle: true,
                    limits: FamilyLimits(perClient: 1, perAccount: nil)))
            try expectEqual(try await store.isGood(2), false)
            try await expectReports([], in: store)
        },
        ConformanceCheck("has an event for each token of a grant, the last with the end of the grant") {
            store in
            let account = try await linkedWithGoogle(1, in: store)
            for number in 2...3 as ClosedRange<UInt64> {
                try await store.authorize(.sample(number, account: account.id, client: "google"))
                try await store.redeem(
                    .sample(number, client: "google", isNative: false, forGoogle: true))
            }
            try await end(account, 1, for: .unlinked, in: store)
            let told = try await store.allEvents().suffix(3)
            try expectEqual(told.map(\.kind), [.tokenRevoked, .tokenRevoked, .grantRevoked])
            try expectEqual(told.map(\.grant?.reason), [.unlinked, .unlinked, .unlinked])
            try await expectReports(
                [SampleToken(family: 1), SampleToken(family: 2), SampleToken(family: 3)], in: store)
        },
        ConformanceCheck("has an event for the token of a stolen code whose grant goes on") { store in
            let account = try await linkedWithGoogle(1, in: store)
            try await store.authorize(.sample(2, account: account.id, client: "google"))
            try await store.redeem(.sample(2, client: "google", isNative: false, forGoogle: true))
            try await end(account, 1, for: .tokenReused, in: store)
            try expect(try await store.isGood(2), "the other family goes on")
            let last = try unwrap(try await store.allEvents().last)
            try expectEqual(last.kind, .tokenRevoked)
            try expectEqual(last.grant?.reason, .tokenReused)
            try await expectReports([SampleToken(family: 1)], in: store)
        },
    ]

    /// A user of their own, with the family of this number.
    private static func linkedWithGoogle(
        _ number: UInt64, in store: any ConformingStore
    ) async throws -> Account {
        let grant = try await store.link(
            number, key: .sample("user-\(number)"), client: "google", isNative: false, forGoogle: true,
            authorizedAt: 1000)
        return try unwrap(try await store.account(grant.accountID))
    }

    /// Ends the grant of this number.
    private static func end(
        _ account: Account, _ number: UInt64, for reason: GrantEndReason, in store: any ConformingStore
    ) async throws {
        let key = SubjectKey(team: account.team, subject: account.subject)
        switch reason {
        case .unlinked:
            _ = try await store.carryOut(.end(.sample(GrantID(.sample(number)), of: account.id)))
        case .consentRevoked:
            try await store.notify(.sample(key: key, at: 3000, identifier: "jti-\(number)"))
        case .appleAccountDeleted:
            try await store.notify(
                .sample(.appleAccountDeleted, key: key, at: 3000, identifier: "jti-\(number)"))
        case .erased:
            try await store.erase(.sample(number, account: account, at: 2_400_000))
        case .signedOut:
            try await store.change(SignOutCommand.sample(account, at: 2_400_000))
        case .tokenReused:
            try await expectGrantRefusal(.codeReused) {
                try await store.redeem(
                    .sample(number, client: "google", isNative: false, forGoogle: true, at: 2_090_000))
            }
        case .clientRevoked, .replaced, .googleRevoked:
            throw ConformanceFailure(description: "\(reason) is not reported")
        }
    }
}
