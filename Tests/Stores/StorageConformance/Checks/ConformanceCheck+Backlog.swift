import AppleAccounts

extension ConformanceCheck {
    private typealias Queue = AppleTokensBacklog.Queue

    static let backlog = [
        ConformanceCheck("counts a code since its sign-in, whatever attempts have failed") { store in
            for number in [2, 1, 3] as [UInt64] {
                try await store.signIn(
                    .sample(
                        key: .sample("p\(number)"), authorizationCode: .sample(number),
                        receivedAt: Moment(milliseconds: Int64(number) * 1000)))
            }
            for attempt in 0..<20 as Range<Int64> {
                let moment = Moment(milliseconds: 10_000 + attempt * 60_000)
                let leaseEnd = moment.advanced(byMilliseconds: 30_000)
                let claimed = try await store.claimCodes(limit: 9, at: moment, leaseUntil: leaseEnd)
                try expectEqual(claimed.count, 3)
                try expectEqual(try await store.backlog(at: moment).codes, Queue(count: 3, since: 1000))
                for code in claimed { try await store.releaseCode(code.record.id, until: leaseEnd) }
                try expectEqual(try await store.backlog(at: moment).codes, Queue(count: 3, since: 1000))
            }
            let account = try unwrap(try await store.account(.sample("p1")))
            try await store.exchange(.sample(code: 1, account: account))
            try expectEqual(try await store.backlog(at: 2_000_000).codes, Queue(count: 2, since: 2000))
        },
        ConformanceCheck("counts a check since it was due, whatever attempts have failed") { store in
            try await store.hold(1, key: .sample("p1"), nextCheckAt: 5000)
            try await store.hold(2, key: .sample("p2"), nextCheckAt: 6000)
            try expectEqual(try await store.backlog(at: 4999), AppleTokensBacklog())
            try expectEqual(try await store.backlog(at: 5000).checks, Queue(count: 1, since: 5000))
            for attempt in 0..<20 as Range<Int64> {
                let moment = Moment(milliseconds: 10_000 + attempt * 100_000)
                let claimed = try await store.claimChecks(
                    limit: 9, at: moment, nextAfter: moment.advanced(byMilliseconds: 90_000),
                    jitterMilliseconds: 100)
                try expectEqual(claimed.map(\.dueSince), [5000, 6000])
                // One is tried soon again, the other with its next interval.
                try await store.releaseCheck(
                    claimed[0], until: moment.advanced(byMilliseconds: 30_000))
                try await store.releaseCheck(claimed[1], until: nil)
                for time in [moment, moment.advanced(byMilliseconds: 95_000)] {
                    try expectEqual(try await store.backlog(at: time).checks, Queue(count: 2, since: 5000))
                }
            }
            // The first is claimed and succeeds, for which nothing is written.
            let last = try await store.claimChecks(
                limit: 1, at: 9_000_000, nextAfter: 99_000_000, jitterMilliseconds: 1)
            try expectEqual(last.map(\.dueSince), [5000])
            try expectEqual(try await store.backlog(at: 9_000_000).checks, Queue(count: 1, since: 6000))
            _ = try await store.claimChecks(
                limit: 9, at: 9_000_000, nextAfter: 99_000_000, jitterMilliseconds: 1)
            try expectEqual(try await store.backlog(at: 9_000_000), AppleTokensBacklog())
        },
        ConformanceCheck("takes no failure of a token that was replaced for its successor's") { store in
            try await store.hold(1, nextCheckAt: 5000)
            let claimed = try await store.claimChecks(
                limit: 9, at: 5000, nextAfter: 90_000, jitterMilliseconds: 1)
            try await store.releaseCheck(claimed[0], until: 6000)
            try await store.hold(2, authorizedAt: 2_000_000, nextCheckAt: 70_000)
            try await store.releaseCheck(claimed[0], until: 1)
            try expectEqual(try await store.nextDue().check, 70_000)
            try expectEqual(try await store.backlog(at: 69_999), AppleTokensBacklog())
        },
        ConformanceCheck("counts the entries of an erasure since its request, until each is done") { store in
            try await store.hold(1, authorizedAt: 1000)
            let account = try await store.hold(2, issuedTo: "com.example.web", authorizedAt: 2000)
            let other = try await store.hold(3, key: .sample("other"))
            let record = try await store.erase(.sample(1, account: account, at: 5000))
            try await store.erase(.sample(2, account: other, at: 7000))
            for attempt in 0..<20 as Range<Int64> {
                let moment = Moment(milliseconds: 10_000 + attempt * 3_600_000)
                let leaseEnd = moment.advanced(byMilliseconds: 30_000)
                let claimed = try await store.claimErasureTokens(
                    limit: 9, at: moment, leaseUntil: leaseEnd, of: nil)
                try expectEqual(claimed.count, 3)
                try expectEqual(try await store.backlog(at: moment).erasures, Queue(count: 3, since: 5000))
                for entry in claimed {
                    var token = entry.token
                    token.cause = "server_failed"
                    token.nextAttemptAt = moment.advanced(byMilliseconds: 3_500_000)
                    try await store.save(token, of: entry.erasureID, at: moment)
                }
                try expectEqual(try await store.backlog(at: moment).erasures, Queue(count: 3, since: 5000))
            }
            let claimed = try await store.claimErasureTokens(
                limit: 9, at: 99_000_000, leaseUntil: 99_030_000, of: record.id)
            for (entry, left) in zip(claimed, [Queue(count: 2, since: 5000), Queue(count: 1, since: 7000)]) {
                var token = entry.token
                token.step = .done(.provenRevoked)
                try await store.save(token, of: entry.erasureID, at: 99_001_000)
                try expectEqual(try await store.backlog(at: 99_001_000).erasures, left)
            }
        },
    ]
}
