import AppAttestation
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

extension ConformanceCheck {
    private static let app = AppCheckTarget.app(bundleID: "com.example.app")
    /// Of the same name.
    private static let client = AppCheckTarget.oauthClient(id: "com.example.app")
    private static let day: Int64 = 1_764_000_000 / 86_400 * 86_400

    static let appCheckHours = [
        ConformanceCheck("adds the counts of App Check by target and hour") { store in
            let first = AppCheckHour(
                target: app, hour: day,
                tally: AppCheckTally(verified: 1, outdatedApp: 2, unknownOrigin: 3, invalid: 4))
            let next = AppCheckHour(target: app, hour: day + 3600, tally: AppCheckTally(invalid: 1))
            let other = AppCheckHour(target: client, hour: day, tally: AppCheckTally(verified: 9))
            try await store.addAppCheckHours([next, other, first])
            try await store.addAppCheckHours([first])
            try await store.addAppCheckHours([])
            let sum = AppCheckHour(
                target: app, hour: day,
                tally: AppCheckTally(verified: 2, outdatedApp: 4, unknownOrigin: 6, invalid: 8))
            try expectEqual(try await store.appCheckHours(of: [app], from: 0), [sum, next])
            try expectEqual(try await store.appCheckHours(of: [app], from: day + 1), [next])
            try expectEqual(try await store.appCheckHours(of: [client], from: day), [other])
            try expectEqual(try await store.appCheckHours(of: [], from: 0), [])
            let all = try await store.appCheckHours(of: [client, app], from: 0)
            try expectEqual(all.map(\.hour), [day, day, day + 3600])
            try expectEqual(Set(all), [sum, next, other])
        },
        ConformanceCheck("loses no count of App Check of eight callers at once") { store in
            let hours = (0..<6).flatMap { number in
                [app, client].map { target in
                    AppCheckHour(
                        target: target, hour: day + 3600 * number, tally: AppCheckTally(unknownOrigin: 1))
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<10 {
                            try await store.addAppCheckHours(
                                number.isMultiple(of: 2) ? hours : hours.reversed())
                        }
                    }
                }
                try await group.waitForAll()
            }
            let stored = try await store.appCheckHours(of: [app, client], from: 0)
            try expectEqual(stored.map(\.tally.unknownOrigin), Array(repeating: 80, count: 12))
        },
        ConformanceCheck("forgets the hours of App Check that are over") { store in
            let hours = (0..<4).map {
                AppCheckHour(target: app, hour: day + 3600 * $0, tally: AppCheckTally(verified: 1))
            }
            try await store.addAppCheckHours(hours)
            try expectEqual(try await store.purgeAppCheckHours(before: day + 7200), 2)
            try expectEqual(try await store.purgeAppCheckHours(before: day + 7200), 0)
            try expectEqual(try await store.appCheckHours(of: [app], from: 0), Array(hours.dropFirst(2)))
        },
    ]
}

extension ConformanceCheck {
    private static func count(
        _ replica: String, _ hour: Int64, _ name: String, _ count: Int64
    ) -> ServiceHourCount {
        ServiceHourCount(replica: replica, hour: moment(hour), name: name, count: count)
    }

    private static func moment(_ hour: Int64) -> Moment {
        Moment(milliseconds: 1_764_000_000_000 / 86_400_000 * 86_400_000 + hour * 3_600_000)
    }

    static let serviceHours = [
        ConformanceCheck("sums the service's numbers over replicas, by hour and name") { store in
            try await store.setServiceHours([
                count("a", 1, "sign_in", 5), count("a", 0, "sign_in", 1), count("a", 1, "refused.x", 2),
            ])
            try await store.setServiceHours([count("b", 1, "sign_in", 7)])
            try await store.setServiceHours([])
            let (first, refused) = (
                ServiceHourSum(hour: moment(0), name: "sign_in", count: 1),
                ServiceHourSum(hour: moment(1), name: "refused.x", count: 2)
            )
            let second = ServiceHourSum(hour: moment(1), name: "sign_in", count: 12)
            try expectEqual(try await store.serviceHours(from: moment(0)), [first, refused, second])
            try expectEqual(try await store.serviceHours(from: moment(1)), [refused, second])
            try expectEqual(try await store.serviceHours(from: moment(2)), [])
        },
        ConformanceCheck("counts nothing twice when a replica writes its hour again") { store in
            for number in 1...3 {
                try await store.setServiceHours([count("a", 0, "sign_in", Int64(number))])
                try await store.setServiceHours([count("b", 0, "sign_in", 10)])
            }
            try expectEqual(
                try await store.serviceHours(from: moment(0)),
                [ServiceHourSum(hour: moment(0), name: "sign_in", count: 13)])
        },
        ConformanceCheck("keeps the hours of eight replicas that write at once") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for replica in 0..<8 {
                    group.addTask {
                        for number in 1...5 {
                            try await store.setServiceHours(
                                (0..<6).map { count("replica-\(replica)", $0, "sign_in", Int64(number)) })
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sums = try await store.serviceHours(from: moment(0))
            try expectEqual(sums.map(\.count), Array(repeating: 40, count: 6))
        },
        ConformanceCheck("forgets the service's hours that are over") { store in
            try await store.setServiceHours((0..<4).map { count("a", $0, "sign_in", 1) })
            try expectEqual(try await store.purgeServiceHours(before: moment(2)), 2)
            try expectEqual(try await store.purgeServiceHours(before: moment(2)), 0)
            try expectEqual(
                try await store.serviceHours(from: moment(0)).map(\.hour), [moment(2), moment(3)])
        },
    ]
}
