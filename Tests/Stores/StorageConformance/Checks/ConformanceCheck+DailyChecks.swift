import AppleAccounts

extension ConformanceCheck {
    static let dailyChecks = [
        ConformanceCheck("gives out a check once in its interval") { store in
            let account = try await store.hold(1, nextCheckAt: 5000)
            func claim(_ moment: Moment) async throws -> [ClaimedCheck] {
                try await store.claimChecks(
                    limit: 9, at: moment, nextAfter: moment.advanced(byMilliseconds: 1000),
                    jitterMilliseconds: 100)
            }
            try expectEqual(try await claim(4999), [])
            let checks = try await claim(5000)
            let token = RefreshTokenRecord(
                id: .sample(1), accountID: account.id, clientID: "com.example.app",
                primaryClientID: "com.example.app", sealed: .sample("token 1"), authorizedAt: 1_000_000,
                nextCheckAt: 5000)
            try expectEqual(checks, [ClaimedCheck(token, key: .sample())])
            try expectEqual(try await claim(5999), [])
            let next = try unwrap(try await store.nextDue().check)
            try expect((6000..<6100).contains(next.milliseconds), "the next check is spread")
            try expectEqual(try await claim(6100).count, 1)
        },
        ConformanceCheck("leaves the checks of resting clients alone, and gives out the others in order") {
            store in
            for number in 1...30 as ClosedRange<UInt64> {
                try await store.hold(number, key: .sample("p\(number)"), nextCheckAt: 5000)
            }
            try await store.hold(31, key: .sample("p31"), clientID: "com.example.other", nextCheckAt: 6000)
            try await store.hold(32, key: .sample("p32"), clientID: "com.example.other", nextCheckAt: 4000)
            func claim(_ limit: Int, except resting: Set<ClientID>) async throws -> [ClaimedCheck] {
                try await store.claimChecks(
                    limit: limit, at: 7000, nextAfter: 90_000, jitterMilliseconds: 1, except: resting)
            }
            let all: Set<ClientID> = ["com.example.app", "com.example.other"]
            try expectEqual(try await claim(9, except: all), [])
            try expectEqual(try await store.nextCheckDue(except: all), nil)
            try expectEqual(try await store.nextCheckDue(except: ["com.example.other"]), 5000)
            try expectEqual(try await store.nextCheckDue(except: ["com.example.app"]), 4000)
            let others = try await claim(9, except: ["com.example.app", "com.example.unknown"])
            try expectEqual(others.map(\.tokenID), [.sample(32), .sample(31)])
            try expectEqual(try await store.nextCheckDue(except: []), 5000)
            // Ties are given out in the order of the accounts.
            let first = try await claim(20, except: [])
            let rest = try await claim(20, except: [])
            try expectEqual([first.count, rest.count], [20, 10])
            let accounts = (first + rest).map(\.accountID.uniqueID)
            try expectEqual(accounts, accounts.sorted())
        },
        ConformanceCheck("gives a check back that was surely not made") { store in
            try await store.hold(1, nextCheckAt: 5000)
            let check = try await store.claimChecks(
                limit: 9, at: 5000, nextAfter: 90_000, jitterMilliseconds: 1)[0]
            try await store.releaseCheck(check, until: 6000)
            try expectEqual(try await store.nextDue().check, 6000)
            // A newer token has its own time.
            try await store.hold(2, authorizedAt: 2_000_000, nextCheckAt: 70_000)
            try await store.releaseCheck(check, until: 1)
            try expectEqual(try await store.nextDue().check, 70_000)
        },
        ConformanceCheck("never gives a check to two of eight claimers at once") { store in
            for number in 1...40 as ClosedRange<UInt64> {
                try await store.hold(number, key: .sample("p\(number)"), nextCheckAt: 5000)
            }
            let claimed = try await withThrowingTaskGroup(of: [UniqueID].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var mine: [UniqueID] = []
                        for _ in 0..<6 {
                            let checks = try await store.claimChecks(
                                limit: 3, at: 5000, nextAfter: 9000, jitterMilliseconds: 1000)
                            mine += checks.map(\.tokenID)
                        }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expectEqual(claimed.sorted(), (1...40).map { .sample($0) })
        },
        ConformanceCheck("revokes when the token that is held is refused") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.hold(2, issuedTo: "com.example.web", authorizedAt: 2000)
            try await store.hold(3, clientID: "com.example.other", authorizedAt: 1000)
            try expectEqual(try await store.reject(.sample(account: account, at: 9000)), .revoked)
            let credential = try await store.credential()
            try expectEqual(credential.state, .revoked)
            try expectEqual(credential.reason, .refreshTokenRejected)
            try expectEqual(credential.source, .dailyCheck)
            try expectEqual(credential.since, 9000)
            try expectEqual(credential.refreshToken, .unavailable(.rejected))
            try expectEqual(try await store.heldTokens(), [.sample(3)])
            let last = try unwrap(try await store.allEvents().last)
            try expectEqual(last.kind, .credentialRevoked)
            try expectEqual(last.reason, .refreshTokenRejected)
            try expectEqual(last.source, .dailyCheck)
            try expectEqual(last.clientID, "com.example.app")
            try expectEqual(last.accountID, account.id)
            // The refused token's sign-in cannot be repeated, a new one can.
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 9000))
            }
            try await store.signIn(.sample(authorizedAt: 9001))
            try expectEqual(try await store.credential().state, .authorized)
        },
        ConformanceCheck("learns nothing from the refusal of a token that was replaced or dropped") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.hold(2, authorizedAt: 2000)
            let events = try await store.allEvents()
            try expectEqual(try await store.reject(.sample(token: 1, account: account)), .ignored)
            try expectEqual(try await store.credential().state, .authorized)
            try expectEqual(try await store.heldTokens(), [.sample(2)])
            try expectEqual(try await store.allEvents(), events)
            try await store.notify(.sample(at: 3000))
            try await store.signIn(.sample(authorizedAt: 4000))
            let state = try await store.credential()
            try expectEqual(try await store.reject(.sample(token: 2, account: account)), .ignored)
            try expectEqual(try await store.credential(), state)
        },
        ConformanceCheck("tells once that a token was refused") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.reject(.sample(account: account, at: 9000))
            let events = try await store.allEvents()
            try expectEqual(try await store.reject(.sample(account: account, at: 9500)), .ignored)
            try await store.notify(.sample(at: 5000))
            try expectEqual(try await store.allEvents(), events)
            try expectEqual(try await store.credential().reason, .refreshTokenRejected)
            // Apple's own word about a later moment says more.
            try await store.notify(.sample(at: 9600))
            try expectEqual(try await store.credential().reason, .consentRevoked)
        },
        ConformanceCheck("never revokes before the authorization that ends") { store in
            // Our clock is behind Apple's.
            let account = try await store.hold(1, authorizedAt: 10_000)
            try await store.reject(.sample(account: account, at: 9000))
            try expectEqual(try await store.credential().state, .revoked)
            try expectEqual(try await store.credential().since, 10_000)
        },
        ConformanceCheck("keeps a code that came after the refusal was asked for") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.signIn(.sample(authorizedAt: 9500, authorizationCode: .sample(2)))
            try await store.reject(.sample(account: account, at: 9000))
            try expectEqual(try await store.credential().state, .authorized)
            try expectEqual(try await store.refreshToken(), .pending)
            try expectEqual(try await store.waitingCodes(), [.sample(2)])
        },
    ]
}
