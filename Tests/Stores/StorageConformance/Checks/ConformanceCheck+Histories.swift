public import AppleAccounts

extension ConformanceCheck {
    private static let day: Int64 = 86_400_000

    static let histories = [
        ConformanceCheck("notes the first sign-in of a day to each app that made no event") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000, receivedAt: 2000)).account
            func signIn(_ app: ClientID, _ authorized: Int64, _ received: Int64) async throws {
                try await store.signIn(
                    .sample(
                        clientID: app, authorizedAt: Moment(milliseconds: authorized),
                        receivedAt: Moment(milliseconds: received)))
            }
            // The day of the first sign-in, which is in the feed; then another day, twice.
            try await signIn("com.example.app", 3000, 4000)
            try await signIn("com.example.app", day, day + 10)
            try await signIn("com.example.app", day + 20, day + 30)
            try await signIn("com.example.other", day + 20, day + 40)
            try await signIn("com.example.other", 2 * day, 2 * day + 50)
            try expectEqual(
                try await store.history(of: account.id, limit: 9),
                [
                    HistoryEntry(
                        accountID: account.id, kind: .signIn, clientID: "com.example.other",
                        outcome: .alreadySo, moment: Moment(milliseconds: 2 * day),
                        recordedAt: Moment(milliseconds: 2 * day + 50)),
                    HistoryEntry(
                        accountID: account.id, kind: .signIn, clientID: "com.example.app",
                        outcome: .alreadySo, moment: Moment(milliseconds: day),
                        recordedAt: Moment(milliseconds: day + 10)),
                ])
        },
        ConformanceCheck("notes a day once when one batch has two sign-ins of it") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000, receivedAt: 2000)).account
            let second = SignInCommand.sample(authorizedAt: 3000, receivedAt: Moment(milliseconds: day))
            _ = try await store.commit([.signIn(second), .signIn(second)])
            try expectEqual(try await store.history(of: account.id, limit: 9).count, 1)
        },
        ConformanceCheck("notes a revocation that came late, with the moment that decided") { store in
            let account = try await store.signIn(.sample(authorizedAt: 50_000)).account
            try await store.notify(.sample(at: 10_000))
            let entries = try await store.history(of: account.id, limit: 9)
            try expectEqual(
                entries,
                [
                    HistoryEntry(
                        accountID: account.id, kind: .consentRevoked, clientID: "com.example.app",
                        outcome: .overtaken, moment: 10_000, recordedAt: 27_000, decidedBy: 50_000)
                ])
            try expectEqual(try await store.credential().state, .authorized)
        },
        ConformanceCheck("notes what Apple's notifications changed, and what they found so already") {
            store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.notify(.sample(.emailForwarding(.disabled, .sample()), at: 2000))
            try await store.notify(.sample(.emailForwarding(.enabled, .sample()), at: 1500))
            try await store.notify(.sample(at: 3000))
            try await store.notify(.sample(at: 3000))
            try await store.notify(.sample(at: 2500))
            try await store.notify(.sample(.appleAccountDeleted, at: 4000))
            try await store.notify(.sample(.unknown, at: 5000))
            let entries = try await store.history(of: account.id, limit: 9).reversed()
            try expectEqual(
                entries.map(\.kind),
                [
                    .emailForwarding, .emailForwarding, .consentRevoked, .consentRevoked,
                    .appleAccountDeleted,
                ])
            try expectEqual(
                entries.map(\.outcome), [.changed, .overtaken, .changed, .overtaken, .changed])
            try expectEqual(entries.map(\.decidedBy), [nil, 2000, nil, 3000, nil])
        },
        ConformanceCheck("notes the ends of exchanges, and Apple's refusal of a token") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.hold(2, authorizedAt: 2000)
            try await store.signIn(.sample(authorizedAt: 3000, authorizationCode: .sample(3)))
            try await store.exchange(
                ExchangeCommand(
                    codeID: .sample(3), key: .sample(), accountID: account.id, clientID: "com.example.app",
                    primaryClientID: "com.example.app", outcome: .unavailable(.codeExpired),
                    receivedAt: 4000))
            try await store.reject(
                RejectionCommand(
                    key: .sample(), accountID: account.id, clientID: "com.example.app",
                    primaryClientID: "com.example.app", tokenID: .sample(9), moment: 5000))
            try await store.reject(
                RejectionCommand(
                    key: .sample(), accountID: account.id, clientID: "com.example.app",
                    primaryClientID: "com.example.app", tokenID: .sample(2), moment: 6000))
            let entries = try await store.history(of: account.id, limit: 9).reversed()
            try expectEqual(
                entries.map(\.outcome),
                [.tokenKept, .tokenKept, .tokenUnavailable, .ignored, .changed])
            try expectEqual(entries.map(\.cause), [nil, nil, .codeExpired, nil, nil])
        },
        ConformanceCheck("keeps the last 200 entries of an account") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            let other = try await store.signIn(.sample(key: .sample("other"), authorizedAt: 1000)).account
            func revocations(_ numbers: Range<Int64>) -> [AccountCommand] {
                numbers.flatMap { number in
                    [SubjectKey.sample(), .sample("other")].prefix(number < 3 ? 2 : 1).map {
                        .notification(.sample(key: $0, at: Moment(milliseconds: number)))
                    }
                }
            }
            _ = try await store.commit(revocations(1..<150))
            _ = try await store.commit(revocations(150..<251))
            _ = try await store.commit(revocations(251..<252))
            let entries = try await store.history(of: account.id, limit: 500)
            try expectEqual(entries.map(\.moment.milliseconds), (52...251).reversed())
            try expectEqual(try await store.history(of: account.id, limit: 3), Array(entries.prefix(3)))
            try expectEqual(try await store.history(of: other.id, limit: 500).count, 2)
        },
        ConformanceCheck("forgets old entries, and all of an erased account") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            let other = try await store.signIn(.sample(key: .sample("other"), authorizedAt: 1000)).account
            for number in 1..<4 {
                for key in [SubjectKey.sample(), .sample("other")] {
                    try await store.notify(.sample(key: key, at: Moment(milliseconds: Int64(number))))
                }
            }
            try expectEqual(try await store.purgeHistory(before: 17_002), 2)
            try expectEqual(try await store.purgeHistory(before: 17_002), 0)
            try expectEqual(try await store.history(of: account.id, limit: 9).count, 2)
            try await store.erase(.sample(account: account, at: 9000))
            try expectEqual(try await store.history(of: account.id, limit: 9), [])
            try expectEqual(try await store.history(of: other.id, limit: 9).count, 2)
            // Late words about an erased user leave nothing.
            try await store.notify(.sample(at: 9500))
            try expectEqual(try await store.history(of: account.id, limit: 9), [])
        },
        ConformanceCheck("moves a history with its account to another team") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.notify(.sample(at: 500))
            let moved = try await TracedUser.move(account, in: store)
            try expectEqual(moved.id, account.id)
            try expectEqual(try await store.history(of: account.id, limit: 9).map(\.moment), [500])
        },
        ConformanceCheck("gives the payloads about a user, for some apps, until the erasure") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.notify(.sample(at: 2000, payload: "first"))
            try await store.notify(.sample(clientID: "com.example.other", at: 3000, payload: "second"))
            try await store.notify(.sample(key: .sample("other"), at: 4000, payload: "third"))
            let found = try await store.payloads(
                about: .sample(), for: ["com.example.app", "com.example.other"], limit: 9)
            try expectEqual(found.map(\.payload), ["second", "first"])
            try expectEqual(found.map(\.moment), [3000, 2000])
            try expectEqual(found.map(\.receivedAt), [20_000, 19_000])
            try expectEqual(found.map(\.type), ["consent-revoked", "consent-revoked"])
            let some = try await store.payloads(about: .sample(), for: ["com.example.app"], limit: 9)
            try expectEqual(some.map(\.payload), ["first"])
            try expectEqual(try await store.payloads(about: .sample(), for: [], limit: 9), [])
            try await store.erase(.sample(account: account, at: 9000))
            try expectEqual(
                try await store.payloads(about: .sample(), for: ["com.example.app"], limit: 9), [])
        },
    ]
}

extension ConformanceCheck {
    static let random = [doesAsTheReference(subjects: ["s1", "s2"])]

    /// Many random changes of few users.
    public static func doesAsTheReference(subjects: [AppleSubject]) -> ConformanceCheck {
        ConformanceCheck("does as the reference does with codes, tokens, erasures and transfers") { store in
            let reference = ReferenceStore()
            var commands = RandomCommands(seed: 20_261_122, subjects: subjects)
            for number in 1...600 as ClosedRange<UInt64> {
                var (mine, its): ([AccountCommand], [AccountCommand]) = ([], [])
                for _ in 0..<Int.random(in: 1...3, using: &commands.generator) {
                    switch Int.random(in: 0..<6, using: &commands.generator) {
                    case 0, 1:
                        let command = AccountCommand.signIn(commands.signIn(withCode: number))
                        mine.append(command)
                        its.append(command)
                    case 2:
                        let command = AccountCommand.notification(commands.notification())
                        mine.append(command)
                        its.append(command)
                    default:
                        let command = commands.userCommand(upTo: number)
                        if let known = try await command.command(for: store) { mine.append(known) }
                        if let known = try await command.command(for: reference) { its.append(known) }
                    }
                }
                let found = try await store.commit(mine).results.map(\.withoutIDs)
                try expectEqual(found, try await reference.commit(its).results.map(\.withoutIDs))
                for key in commands.keys {
                    try expectEqual(
                        try await store.account(key)?.withoutIDs,
                        try await reference.account(key)?.withoutIDs)
                    for clientID in commands.clientIDs {
                        try expectEqual(
                            try await store.credential(key, clientID),
                            try await reference.credential(key, clientID))
                    }
                }
                try expectEqual(try await store.waitingCodes(), try await reference.waitingCodes())
                try expectEqual(try await store.sealedCount(), try await reference.sealedCount())
            }
            try expectEqual(try await store.heldTokens(), try await reference.heldTokens())
            try expectEqual(
                try await store.allEvents().map(\.withoutIDs),
                try await reference.allEvents().map(\.withoutIDs))
        }
    }
}
