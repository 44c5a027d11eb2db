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
