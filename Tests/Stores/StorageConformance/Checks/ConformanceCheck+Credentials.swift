import AppleAccounts

extension ConformanceCheck {
    static let credentials = [
        ConformanceCheck("authorizes the app of the sign-in and no other") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            let record = try await store.credential()
            let expected = CredentialRecord(authorization: Authorization(moment: 5000, source: .signIn))
            try expectEqual(record, Credential(clientID: "com.example.app", record: expected))
            try expectEqual(record.state, .authorized)
            try expectEqual(try await store.credential(.sample(), "com.example.other").state, .notFound)
            try expectEqual(try await store.credential(.sample(), "never.seen").state, .notFound)
        },
        ConformanceCheck("revokes the app of the notification and no other") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 5000))
            try await store.notify(.sample(at: 6000))
            let record = try await store.credential()
            try expectEqual(record.state, .revoked)
            try expectEqual(record.reason, .consentRevoked)
            try expectEqual(record.source, .notification)
            try expectEqual(record.since, 6000)
            try expectEqual(try await store.credential(.sample(), "com.example.other").state, .authorized)
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.credentials.map(\.state), [.revoked, .authorized])
        },
        ConformanceCheck("refuses a token that is not later than the revocation") { store in
            try await store.signIn(.sample(authorizedAt: 5000, receivedAt: 5001))
            try await store.notify(.sample(at: 6000))
            let before = try await store.account(.sample())
            for moment in [4000, 5000, 6000] as [Moment] {
                try await expectRefusal(.credentialRevoked) {
                    try await store.signIn(
                        .sample(authorizedAt: moment, firstName: "Mallory", receivedAt: 7000))
                }
            }
            try expectEqual(try await store.account(.sample()), before)
            try expectEqual(try await store.credential().state, .revoked)
            try await store.signIn(.sample(authorizedAt: 6001))
            try expectEqual(try await store.credential().state, .authorized)
        },
        ConformanceCheck("remembers a revocation for a user not known yet") { store in
            try await store.notify(.sample(at: 6000))
            try expectEqual(try await store.credential().state, .revoked)
            try expectEqual(try await store.account(.sample()), nil)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 6000))
            }
            try expectEqual(try await store.account(.sample()), nil)
            let outcome = try await store.signIn(.sample(authorizedAt: 6001))
            try expect(outcome.isNewAccount, "the account is new")
            try expectEqual(outcome.credential.state, .authorized)
        },
        ConformanceCheck("does not let a late old revocation undo a newer sign-in") { store in
            try await store.signIn(.sample(authorizedAt: 9000))
            try await store.notify(.sample(at: 6000))
            try expectEqual(try await store.credential().state, .authorized)
            try await store.notify(.sample(at: 9000))
            try expectEqual(try await store.credential().state, .revoked)
        },
        ConformanceCheck("answers for many users in their order") { store in
            try await store.signIn(.sample(key: .sample("authorized")))
            try await store.notify(.sample(key: .sample("revoked")))
            try await store.signIn(.sample(key: .sample(team: "OTHERTEAM1", "elsewhere")))
            let subjects: [AppleSubject] = ["revoked", "unknown", "authorized", "elsewhere", "revoked"]
            let records = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: subjects)
            try expectEqual(
                records.map(\.state), [.revoked, .notFound, .authorized, .notFound, .revoked])
            let none = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: [])
            try expectEqual(none, [])
        },
        ConformanceCheck("answers for a thousand users at once") { store in
            let subjects = (0..<1000).map { AppleSubject(stringLiteral: "user-\($0)") }
            _ = try await store.commit(subjects.map { .signIn(.sample(key: .sample($0))) })
            let records = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: subjects.reversed())
            try expectEqual(records.count, 1000)
            try expect(records.allSatisfy { $0.state == .authorized }, "all are authorized")
        },
    ]

    static let deletions = [
        ConformanceCheck("ends the credentials of all apps when the Apple Account is deleted") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 5000))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            for clientID in ["com.example.app", "com.example.other"] as [ClientID] {
                let record = try await store.credential(.sample(), clientID)
                try expectEqual(record.state, .revoked)
                try expectEqual(record.reason, .appleAccountDeleted)
                try expectEqual(record.since, 6000)
            }
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.credentials.map(\.state), [.revoked, .revoked])
            try expectEqual(account.credentials.map(\.reason), [.appleAccountDeleted, .appleAccountDeleted])
        },
        ConformanceCheck("remembers a deletion for apps that are seen later") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try expectEqual(try await store.credential(.sample(), "com.example.new").state, .revoked)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(clientID: "com.example.new", authorizedAt: 6000))
            }
            try await store.signIn(.sample(clientID: "com.example.new", authorizedAt: 6001))
            try expectEqual(try await store.credential(.sample(), "com.example.new").state, .authorized)
            try expectEqual(try await store.credential().state, .revoked)
        },
        ConformanceCheck("remembers a deletion for a user not known yet") { store in
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.credential().state, .revoked)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 5999))
            }
        },
        ConformanceCheck("keeps a deletion to its team") { store in
            let other = SubjectKey.sample(team: "OTHERTEAM1")
            try await store.signIn(.sample(key: other, clientID: "org.example.app", authorizedAt: 5000))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try expectEqual(try await store.credential(other, "org.example.app").state, .authorized)
        },
        ConformanceCheck("takes the latest of two deletions") { store in
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            try await store.notify(.sample(.appleAccountDeleted, at: 4000))
            try expectEqual(try await store.credential().since, 6000)
            try await store.notify(.sample(.appleAccountDeleted, at: 8000))
            try expectEqual(try await store.credential().since, 8000)
        },
    ]
}

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
