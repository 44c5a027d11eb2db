import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    static let keeping = [
        ConformanceCheck("forgets codes a day after their end, and families with theirs") { store in
            let grant = try await store.link()
            // The pace of new grants is good for an hour.
            try expectEqual(try await store.purgeGrants(at: 5_600_000), 0)
            try expectEqual(try await store.purgeGrants(at: 5_600_001), 1)
            try expectEqual(try await store.purgeGrants(at: 89_000_000), 0)
            try expectEqual(try await store.purgeGrants(at: 89_000_001), 1)
            try await expectGrantRefusal(.codeNotFound) { try await store.redeem(.sample(at: 89_000_001)) }
            try expectEqual(try await store.purgeGrants(at: 900_000_000), 0)
            try expectEqual(try await store.purgeGrants(at: 900_000_001), 1)
            try expect(try await store.status(ofFamily: .sample(1)) == nil, "the family is forgotten")
            // The consent is remembered.
            try expectEqual(try await store.grants(of: grant.accountID), [grant])
        },
        ConformanceCheck("forgets what Google said after 30 days, but for accounts that are disabled") {
            store in
            try await store.carryOut(
                .googleEvent(
                    .sample(
                        .disable(googleSubject: "off", at: 1000), .enable(googleSubject: "on", at: 1000),
                        receivedAt: 1000)))
            let end = Moment(milliseconds: 1000).advanced(byMilliseconds: GoogleEventCommand.keptFor)
            try expectEqual(try await store.purgeGrants(at: end), 0)
            try expectEqual(try await store.purgeGrants(at: end.advanced(byMilliseconds: 1)), 2)
            try expectEqual(try await store.isDisabled(googleSubject: "off"), true)
        },
        ConformanceCheck("keeps one signing key of several that are offered at once") { store in
            try expectEqual(try await store.signingKeys(), [])
            let first = key("first", at: 5000)
            try expectEqual(try await store.offerSigningKey(first, unlessMadeAfter: 4000), [first])
            try expectEqual(
                try await store.offerSigningKey(key("late", at: 5001), unlessMadeAfter: 5000), [first])
            let rsa = key("rsa", "RS256", at: 5000)
            try expectEqual(
                try await store.offerSigningKey(rsa, unlessMadeAfter: 4000), [rsa, first])
            let next = key("next", at: 9000)
            try expectEqual(
                try await store.offerSigningKey(next, unlessMadeAfter: 5001), [next, rsa, first])
            try expectEqual(try await store.removeSigningKeys(retiredBefore: 6000), 0)
            try expectEqual(try await store.removeSigningKeys(retiredBefore: 6001), 2)
            try expectEqual(try await store.signingKeys(), [next])
        },
        ConformanceCheck("replaces the sealed part of a signing key as long as it is the same") { store in
            let (old, other) = (key("old", at: 5000), key("other", at: 4000))
            _ = try await store.offerSigningKey(other, unlessMadeAfter: 0)
            _ = try await store.offerSigningKey(old, unlessMadeAfter: 4500)
            try expect(try await store.replaceSealed(old, with: .sample("new")), "it was there")
            try expect(try await !store.replaceSealed(old, with: .sample("late")), "it is another now")
            var new = old
            new.sealed = .sample("new")
            try expectEqual(try await store.signingKeys(), [new, other])
            try expectEqual(try await store.removeSigningKeys(retiredBefore: 9000), 2)
            try expect(try await !store.replaceSealed(new, with: .sample("late")), "it is gone")
            try expectEqual(try await store.signingKeys(), [])
        },
        ConformanceCheck("removes one signing key before its time, as long as it is the same") { store in
            let (old, other) = (key("old", at: 5000), key("other", at: 4000))
            _ = try await store.offerSigningKey(other, unlessMadeAfter: 0)
            _ = try await store.offerSigningKey(old, unlessMadeAfter: 4500)
            var resealed = old
            resealed.sealed = .sample("new")
            try expect(
                try await !store.removeSigningKey(resealed, by: .service, at: 6000), "it is another one")
            try expect(try await store.removeSigningKey(old, by: .service, at: 6000), "it was there")
            try expect(try await !store.removeSigningKey(old, by: .service, at: 6000), "it is gone")
            try expectEqual(try await store.signingKeys(), [other])
        },
        ConformanceCheck("carries out a batch in its order, and refuses each command alone") { store in
            let account = try await store.signIn(.sample()).account
            let none = try await store.commit(grants: [])
            try expectEqual(none.results.count, 0)
            let results = try await store.commit(grants: [
                .redeem(.sample(1)), .authorize(.sample(1, account: account.id)), .redeem(.sample(1)),
                .redeem(.sample(1, family: 2)), .refresh(.sample(at: 2_100_000)),
                .refresh(.sample(SampleToken(family: 1).next(), at: 2_100_000)), .revoke(.sample()),
                .refresh(.sample(SampleToken(family: 1).next().next())),
            ])
            let refusals = results.results.map { result -> GrantRefusal.Code? in
                if case .failure(let error) = result { (error as? GrantRefusal)?.code } else { nil }
            }
            try expectEqual(
                refusals, [.codeNotFound, nil, nil, .codeRetried, nil, nil, nil, .refreshTokenNotFound])
            try expectEqual(results.lastEventSequence, try await store.lastEventSequence())
            try expectEqual(try await store.eventKinds().suffix(2), [.grantCreated, .grantRevoked])
        },
        ConformanceCheck("gives tokens in a batch in which a grant ends") { store in
            try await store.link(1)
            let other = try await store.signIn(.sample(key: .sample("other"))).account
            try await store.authorize(.sample(2, account: other.id, client: "tablet"))
            let results = try await store.commit(grants: [
                .redeem(.sample(2, client: "tablet")), .redeem(.sample(1, family: 9, at: 2_021_000)),
                .refresh(.sample(SampleToken(family: 2), client: "tablet", at: 2_100_000)),
            ])
            let refusals = results.results.map { result -> GrantRefusal.Code? in
                if case .failure(let error) = result { (error as? GrantRefusal)?.code } else { nil }
            }
            try expectEqual(refusals, [nil, .codeReused, nil])
            try expect(try await !store.isGood(1), "the family of the code that was used again has ended")
            try expect(try await store.isGood(2), "the other has not")
            let kinds = try await store.eventKinds()
            try expectEqual(kinds.count { $0 == .grantRevoked }, 1)
            try expectEqual(kinds.count { $0 == .grantCreated }, 2)
        },
        ConformanceCheck("a value that no row takes fails alone") { store in
            let account = try await store.signIn(.sample()).account
            let long = GoogleEventCommand(
                jti: "jti", payload: Array(repeating: 7, count: GoogleEventCommand.longestPayload + 1),
                events: [], receivedAt: 1000)
            let results = try await store.commit(grants: [
                .authorize(.sample(1, account: account.id)), .googleEvent(long), .redeem(.sample(1)),
            ]).results
            let failures = results.map { result -> StorageError.Code? in
                if case .failure(let error) = result { (error as? StorageError)?.code } else { nil }
            }
            try expectEqual(failures, [nil, .valueRefused, nil])
            try expect(try await store.isGood(1), "the others are carried out")
        },
    ]

    private static func key(
        _ name: String, _ algorithm: String = "ES256", at moment: Moment
    ) -> SigningKeyRecord {
        SigningKeyRecord(
            keyID: name, algorithm: algorithm, sealed: .sample("sealed \(name)"),
            publicKey: Array("{}".utf8), createdAt: moment, signsFrom: moment,
            retiresAt: moment.advanced(byMilliseconds: 1000))
    }
}
