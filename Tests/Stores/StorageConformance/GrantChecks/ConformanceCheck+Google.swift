import AppleAccounts
import AuthorizationServer
import Cryptography

extension ConformanceCheck {
    static let google = [
        ConformanceCheck("gives tokens for Google's assertion, and remembers the Google account") { store in
            let account = try await store.signIn(.sample()).account
            guard
                case .issued(let tokens) = try await store.carryOut(.assertion(.sample(account: account.id)))
            else { throw ConformanceFailure(description: "an assertion had another outcome") }
            try expectEqual(tokens.grant.googleSubject, "google-sub-1")
            try expectEqual(tokens.family.googleSubject, "google-sub-1")
            try expectEqual(tokens.family.expiresAt, .last)
            try expectEqual(try await store.status(ofFamily: .sample(1))?.family, tokens.family)
            try expectEqual(try await store.account(linkedWith: "google-sub-1", for: "google"), account.id)
            try expectEqual(try await store.account(linkedWith: "google-sub-1", for: "phone"), nil)
            try expectEqual(try await store.account(linkedWith: "google-sub-2", for: "google"), nil)
            try expectEqual(try await store.eventKinds().last, .grantCreated)
            // Another account takes the link over.
            let other = try await store.signIn(.sample(key: .sample("other"))).account
            _ = try await store.carryOut(.assertion(.sample(2, account: other.id)))
            try expectEqual(try await store.account(linkedWith: "google-sub-1", for: "google"), other.id)
            try expect(try await store.isGood(1), "tokens that were given stay good")
            try await expectGrantRefusal(.accountNotFound) {
                try await store.carryOut(.assertion(.sample(account: AccountID(.sample(9)))))
            }
            try await store.notify(.sample(at: 1_500_000))
            try await expectGrantRefusal(.credentialRevoked) {
                try await store.carryOut(.assertion(.sample(3, account: account.id)))
            }
        },
        ConformanceCheck("ends what is linked with a Google account, up to Google's moment") { store in
            let first = try await store.signIn(.sample()).account
            _ = try await store.carryOut(.assertion(.sample(1, account: first.id, at: 2_000_000)))
            _ = try await store.carryOut(.assertion(.sample(2, account: first.id, at: 2_100_000)))
            let old = GoogleEventCommand.sample(
                .endFamilies(googleSubject: "google-sub-1", upTo: 2_050_000, of: nil), jti: "jti-1")
            try expectEqual(try await store.carryOut(.googleEvent(old)), .googleEvent(.applied))
            try expect(try await !store.isGood(1), "the older family has ended")
            try expect(try await store.isGood(2), "the younger goes on")
            try expectEqual(try await store.carryOut(.googleEvent(old)), .googleEvent(.duplicate))
            let new = GoogleEventCommand.sample(
                .endFamilies(googleSubject: "google-sub-1", upTo: 2_100_000, of: nil), jti: "jti-2")
            try await store.carryOut(.googleEvent(new))
            try expectEqual(try await store.grants(of: first.id), [])
            try expectEqual(try await store.allEvents().last?.grant?.reason, .googleRevoked)
            // Google knows already.
            try await expectReports([], in: store)
        },
        ConformanceCheck("keeps of each family the Google account that it came with") { store in
            let account = try await store.signIn(.sample()).account
            _ = try await store.carryOut(.assertion(.sample(1, account: account.id)))
            _ = try await store.carryOut(.assertion(.sample(2, account: account.id, subject: "google-sub-2")))
            for subject in ["google-sub-1", "google-sub-2"] {
                try expectEqual(try await store.account(linkedWith: subject, for: "google"), account.id)
            }
            try await store.carryOut(
                .googleEvent(.sample(.endFamilies(googleSubject: "google-sub-1", upTo: 2_500_000, of: nil))))
            try expect(try await !store.isGood(1), "the first Google account's family has ended")
            try expect(try await store.isGood(2), "the second one's has not")
            try expectEqual(try await store.account(linkedWith: "google-sub-1", for: "google"), nil)
            // The link is looked at again under the lock.
            try await expectGrantRefusal(.accountNotMatched) {
                try await store.carryOut(.assertion(.sample(3, account: account.id, match: .link)))
            }
        },
        ConformanceCheck("ends what a disabled Google account has linked, also since the event") { store in
            let account = try await store.signIn(.sample()).account
            _ = try await store.carryOut(.assertion(.sample(1, account: account.id, at: 2_100_000)))
            try await store.carryOut(
                .googleEvent(.sample(.disable(googleSubject: "google-sub-1", at: 2_000_000))))
            try expect(try await !store.isGood(1), "nothing is good that a disabled account has linked")
            try expectEqual(try await store.grants(of: account.id), [])
        },
        ConformanceCheck("ends one refresh token that Google names by its digest") { store in
            let grant = try await store.link(1, client: "google", isNative: false, forGoogle: true)
            try await store.authorize(.sample(2, account: grant.accountID, client: "google"))
            try await store.redeem(.sample(2, client: "google", isNative: false, forGoogle: true))
            let digest = SampleToken(family: 1).doubleSHA512
            for wrong in [.hash(digest.bytes), SampleToken(family: 3).doubleSHA512] as [SHA512Digest] {
                try await store.carryOut(
                    .googleEvent(
                        .sample(
                            .endToken(doubleSHA512: wrong, of: ["google"]), jti: "wrong-\(wrong.bytes[0])")))
            }
            try expect(try await store.isGood(1), "no other digest ends it")
            try await store.carryOut(.googleEvent(.sample(.endToken(doubleSHA512: digest, of: ["google"]))))
            try expect(try await !store.isGood(1), "the token has ended")
            try expect(try await store.isGood(2), "the other has not")
        },
        ConformanceCheck("keeps Google's later word about an account, in whatever order it comes") { store in
            let account = try await store.signIn(.sample()).account
            func isDisabled() async throws -> Bool {
                try await store.isDisabled(googleSubject: "google-sub-1")
            }
            func say(_ change: GoogleEventCommand.Change, _ jti: String) async throws {
                try await store.carryOut(.googleEvent(.sample(change, jti: jti)))
            }
            try expectEqual(try await isDisabled(), false)
            try await say(.enable(googleSubject: "google-sub-1", at: 5000), "1")
            try await say(.disable(googleSubject: "google-sub-1", at: 4000), "2")
            try expectEqual(try await isDisabled(), false)
            try await say(.disable(googleSubject: "google-sub-1", at: 6000), "3")
            try expectEqual(try await isDisabled(), true)
            try await expectGrantRefusal(.googleAccountDisabled) {
                try await store.carryOut(.assertion(.sample(account: account.id)))
            }
            try await say(.name(googleSubject: "google-sub-1"), "4")
            // In the same second Google has enabled what it had disabled, also when the words cross.
            try await say(.enable(googleSubject: "google-sub-1", at: 6000), "5")
            try expectEqual(try await isDisabled(), false)
            try await say(.disable(googleSubject: "google-sub-1", at: 6000), "6")
            try expectEqual(try await isDisabled(), false)
            try await store.carryOut(.assertion(.sample(account: account.id)))
        },
        ConformanceCheck("tells which event of Google has ended a grant") { store in
            let account = try await store.signIn(.sample()).account
            for (number, reason) in [(1, .hijacking), (2, nil)] as [(UInt64, GoogleEventReason?)] {
                let time = Moment(milliseconds: 2_000_000 + Int64(number) * 100_000)
                _ = try await store.carryOut(.assertion(.sample(number, account: account.id, at: time)))
                let event = GoogleEventCommand.sample(
                    .endFamilies(googleSubject: "google-sub-1", upTo: time, of: nil),
                    kind: .accountDisabled, reason: reason, jti: "jti-\(number)")
                try expectEqual(try await store.carryOut(.googleEvent(event)), .googleEvent(.applied))
                let grant = try unwrap(try await store.allEvents().last?.grant)
                try expectEqual(grant.reason, .googleRevoked)
                try expectEqual(
                    grant.googleEvent, GoogleEventReference(kind: .accountDisabled, reason: reason))
            }
            try expectEqual(
                try await store.carryOut(
                    .googleEvent(.sample(.name(googleSubject: "google-sub-1"), jti: "jti-3"))),
                .googleEvent(.applied(unmatched: .credentialChangeRequired)))
        },
        ConformanceCheck("learns the Google account of links that were made without one") { store in
            let grant = try await store.link(1, client: "google", isNative: false, forGoogle: true)
            let learning = LearnGoogleSubjectCommand.sample(account: grant.accountID)
            try expectEqual(try await store.carryOut(.learnGoogleSubject(learning)), .learned(1))
            try expectEqual(try await store.carryOut(.learnGoogleSubject(learning)), .learned(0))
            let family = try unwrap(try await store.status(ofFamily: .sample(1))?.family)
            try expectEqual(family.googleSubject, "google-sub-1")
            try expect(family.isGoogleSubjectLearned, "the family says how its Google account became known")
            try expectEqual(
                try await store.grants(of: grant.accountID).first?.googleSubject, "google-sub-1")
            // A learned link is no way into the account.
            try expectEqual(try await store.account(linkedWith: "google-sub-1", for: "google"), nil)
            try await expectGrantRefusal(.accountNotMatched) {
                try await store.carryOut(.assertion(.sample(2, account: grant.accountID, match: .link)))
            }
            try await store.carryOut(
                .googleEvent(.sample(.endFamilies(googleSubject: "google-sub-1", upTo: 9_000_000, of: nil))))
            try expect(try await !store.isGood(1), "an event about the Google account ends the learned link")
            try await expectGrantRefusal(.accountNotFound) {
                try await store.carryOut(.learnGoogleSubject(.sample(account: AccountID(.sample(9)))))
            }
        },
        ConformanceCheck("finds a verification by its state, and the time of the last event") { store in
            try expectEqual(try await store.lastGoogleEvent(), nil)
            try expectEqual(try await store.googleVerification("state-1"), nil)
            for (number, state) in [(1, "state-1"), (2, nil), (3, "state-1"), (4, "")] as [(Int64, String?)] {
                try await store.carryOut(
                    .googleEvent(
                        .sample(
                            kind: .verification, verificationState: state, jti: "jti-\(number)",
                            receivedAt: Moment(milliseconds: 3_000_000 + number))))
            }
            try expectEqual(try await store.googleVerification("state-1"), 3_000_003)
            try expectEqual(try await store.googleVerification(""), 3_000_004)
            try expectEqual(try await store.googleVerification("STATE-1"), nil)
            try expectEqual(try await store.lastGoogleEvent(), 3_000_004)
            _ = try await store.purgeGrants(
                at: Moment(milliseconds: 3_000_005 + GoogleEventCommand.keptFor))
            try expectEqual(try await store.lastGoogleEvent(), nil)
            try expectEqual(try await store.googleVerification("state-1"), nil)
        },
    ]
}

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
