import AppleAccounts

extension ConformanceCheck {
    static let disabling = [
        ConformanceCheck("keeps a disabling, shows it with the account and its credentials, and ends it") {
            store in
            let account = try await store.signIn(.sample()).account
            try await store.signIn(.sample(clientID: "com.example.other"))
            let disabled = try await store.change(
                DisableCommand.sample(account, reason: .fraud, until: 9_000_000))
            let known = Disabling(since: 2_050_000, until: 9_000_000, reason: .fraud)
            try expectEqual(disabled.disabling, known)
            for found in [try await store.account(account.id), try await store.account(.sample())] {
                try expectEqual(found, disabled)
                try expectEqual(found?.credentials.map(\.disabledUntil), [9_000_000, 9_000_000])
            }
            try expectEqual(try await store.credential().disabledUntil, 9_000_000)
            try expectEqual(
                try await store.credential(.sample(), "com.example.other").disabledUntil, 9_000_000)
            // Apple's state has not changed, and an app that the user never used learns nothing.
            try expectEqual(try await store.credential().state, .authorized)
            try expectEqual(try await store.credential(.sample(), "org.example.app").disabledUntil, nil)
            let enabled = try await store.change(EnableCommand.sample(account))
            try expectEqual(enabled.disabling, nil)
            try expectEqual(try await store.account(account.id), enabled)
            try expectEqual(try await store.credential().disabledUntil, nil)
            try expectEqual(
                try await store.eventKinds().suffix(2), [.accountDisabled, .accountEnabled])
        },
        ConformanceCheck("finds disabled users among others at one moment") { store in
            for name in ["a", "b", "c"] as [AppleSubject] {
                let account = try await store.signIn(.sample(key: .sample(name))).account
                if name != "b" { try await store.change(DisableCommand.sample(account)) }
            }
            let found = try await store.credentials(
                team: SubjectKey.sample().team, clientID: "com.example.app", subjects: ["a", "x", "b", "c"])
            try expectEqual(found.map(\.disabledUntil), [.last, nil, nil, .last])
        },
        ConformanceCheck("refuses sign-ins of a disabled user, also in the same batch, until it is over") {
            store in
            let account = try await store.signIn(.sample()).account
            let results = try await store.commit([
                .disable(.sample(account, until: 3_000_000)),
                .signIn(.sample(authorizedAt: 2_100_000, nonce: .sample())),
                .signIn(.sample(key: .sample("other"), authorizedAt: 2_100_000)),
            ]).results
            try expectEqual(results[1], .refused(AccountRefusal(.accountDisabled)))
            guard case .done = results[2] else {
                throw ConformanceFailure(description: "another user is refused")
            }
            for _ in 0..<2 {
                try await expectRefusal(.accountDisabled) {
                    try await store.signIn(.sample(authorizedAt: 2_200_000))
                }
            }
            // Also into another app, and the nonce is not used up.
            try await expectRefusal(.accountDisabled) {
                try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 2_200_000))
            }
            let outcome = try await store.signIn(
                .sample(authorizedAt: 2_200_000, nonce: .sample(), receivedAt: 3_000_000))
            try expectEqual(outcome.account.disabling, nil)
            try expectEqual(outcome.account.id, account.id)
            try expect(
                try await store.eventKinds().contains(.accountEnabled), "the end of the time is told")
        },
        ConformanceCheck("takes Apple's word, exchanges and erasures of a disabled user") { store in
            let account = try await store.hold(1)
            try await store.signIn(.sample(authorizedAt: 1_100_000, authorizationCode: .sample(2)))
            try await store.change(DisableCommand.sample(account))
            try expectEqual(
                try await store.exchange(
                    .sample(code: 2, account: account, token: 2, authorizedAt: 1_100_000)),
                .kept)
            try await store.notify(.sample(at: 2_100_000))
            try expectEqual(try await store.credential().state, .revoked)
            try expectEqual(try await store.credential().disabledUntil, .last)
            try await store.notify(.sample(.appleAccountDeleted, at: 2_200_000))
            try expectEqual(try await store.account(account.id)?.disabling?.reason, .abuse)
            try await store.change(EnableCommand.sample(account))
            try expectEqual(try await store.credential().reason, .appleAccountDeleted)
            try await store.change(DisableCommand.sample(account))
            try await store.erase(.sample(account: account))
            // The tombstone knows nothing of it, and the user may come back.
            try expectEqual(try await store.credential().disabledUntil, nil)
            try await store.signIn(.sample(authorizedAt: 6_000_000))
        },
        ConformanceCheck("keeps an account disabled that moves to another team") { store in
            let account = try await store.signIn(.sample()).account
            try await store.change(SignOutCommand.sample(account, at: 2_040_000))
            try await store.change(DisableCommand.sample(account))
            let to = SubjectKey.sample(team: "OTHERTEAM1", "new-name")
            try await store.transfer(
                TransferCommand(
                    accountID: account.id, from: .sample(), to: to, clientID: "com.example.app", email: nil,
                    createdAt: account.createdAt, receivedAt: 2_100_000))
            let moved = try unwrap(try await store.account(account.id))
            try expectEqual(moved.disabling?.since, 2_050_000)
            try expectEqual(moved.sessionsEndedAt, 2_040_000)
            try await expectRefusal(.accountDisabled) {
                try await store.signIn(.sample(key: to, authorizedAt: 2_200_000))
            }
        },
        ConformanceCheck("refuses a disabled user whom a token's transfer identifier finds") { store in
            let account = try await store.signIn(.sample()).account
            try await store.change(DisableCommand.sample(account))
            let to = SubjectKey.sample(team: "OTHERTEAM1", "new-name")
            try await store.importTransfers([
                TransferRecord(
                    recipientTeam: "OTHERTEAM1", transferSubject: "moves", accountID: account.id,
                    from: .sample(), createdAt: 1, expiresAt: 9_000_000)
            ])
            try await expectRefusal(.accountDisabled) {
                try await store.signIn(
                    .sample(key: to, authorizedAt: 2_200_000, transferSubject: "moves"))
            }
            try expectEqual(try await store.account(to), nil)
        },
        ConformanceCheck("lists accounts whose time is over, the longest waiting first, without others") {
            store in
            var accounts: [Account] = []
            let ends: [Moment] = [5_000_000, 4_000_000, .last, 6_000_000, 4_500_000]
            for (number, end) in ends.enumerated() {
                let key = SubjectKey.sample(AppleSubject(stringLiteral: "user-\(number)"))
                accounts.append(try await store.signIn(.sample(key: key)).account)
                try await store.change(DisableCommand.sample(accounts[number], until: end))
            }
            let erased = try await store.signIn(.sample(key: .sample("erased"))).account
            try await store.change(DisableCommand.sample(erased, until: 3_000_000))
            try await store.erase(.sample(account: erased))
            let due = try await store.accountsDisabled(until: 5_000_000, limit: 10)
            try expectEqual(due.map(\.accountID), [accounts[1].id, accounts[4].id, accounts[0].id])
            try expectEqual(due.first?.key, .sample("user-1"))
            try expectEqual(
                try await store.accountsDisabled(until: 5_000_000, limit: 2).map(\.accountID),
                [accounts[1].id, accounts[4].id])
            try await store.change(EnableCommand.sample(accounts[1], onlyIfOver: true, at: 5_000_000))
            try await store.change(EnableCommand.sample(accounts[3], onlyIfOver: true, at: 5_000_000))
            try expectEqual(
                try await store.accountsDisabled(until: .last, limit: 10).map(\.accountID),
                [accounts[4].id, accounts[0].id, accounts[3].id, accounts[2].id])
        },
        ConformanceCheck("changes an account for a caller who may see all of its apps, and for no other") {
            store in
            let account = try await store.signIn(.sample()).account
            try await store.signIn(.sample(clientID: "com.example.other"))
            let events = try await store.allEvents()
            for (scope, code) in [
                (.only(["com.example.app"]), .callerForbidden),
                (.only(["org.example.app"]), .accountNotFound),
            ] as [(AppScope, AccountRefusal.Code)] {
                try await expectRefusal(code) {
                    try await store.change(DisableCommand.sample(account, scope: scope))
                }
                try await expectRefusal(code) {
                    try await store.change(EnableCommand.sample(account, scope: scope))
                }
                try await expectRefusal(code) {
                    try await store.change(SignOutCommand.sample(account, scope: scope))
                }
            }
            try expectEqual(try await store.allEvents(), events)
            let both = AppScope.only(["com.example.app", "com.example.other"])
            try await store.change(DisableCommand.sample(account, scope: both))
            let page = try await store.events(after: 0, limit: 100, visibleTo: .only(["com.example.other"]))
            try expectEqual(page.events.last?.kind, .accountDisabled)
        },
        ConformanceCheck("never signs a disabled user in, in 200 racing rounds") { store in
            for round in 1...200 as ClosedRange<Int64> {
                let key = SubjectKey.sample(AppleSubject(stringLiteral: "user-\(round)"))
                let account = try await store.signIn(.sample(key: key)).account
                async let signedIn = store.commit([
                    .signIn(.sample(key: key, authorizedAt: 2_100_000))
                ])
                async let disabled = store.commit([.disable(.sample(account))])
                let (result, change) = try await (signedIn.results.first, disabled.results.first)
                guard case .done(.changed(let found)) = change else {
                    throw ConformanceFailure(description: "not disabled: \(String(describing: change))")
                }
                let wasFirst = found.lastSignInAt == 2_101_234
                switch result {
                case .done(.signedIn): try expect(wasFirst, "a sign-in after the disabling")
                case let result:
                    try expectEqual(result, .refused(AccountRefusal(.accountDisabled)))
                    try expect(!wasFirst, "a sign-in that was refused has left a trace")
                }
            }
        },
    ]
}
