import AppleAccounts

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
