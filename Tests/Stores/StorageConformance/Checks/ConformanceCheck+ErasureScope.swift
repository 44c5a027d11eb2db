import AppleAccounts

extension ConformanceCheck {
    static let erasureScope = [
        ConformanceCheck("erases an account for a caller who may see all of its apps, and for no other") {
            store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 1000))
            let (before, events) = (try await store.account(account.id), try await store.allEvents())
            for (scope, code) in [
                (.only(["com.example.app"]), .callerForbidden),
                (.only(["com.example.other"]), .callerForbidden),
                (.only(["com.example.app", "org.example.app"]), .callerForbidden),
                (.only(["org.example.app"]), .accountNotFound), (.only([]), .accountNotFound),
            ] as [(AppScope, AccountRefusal.Code)] {
                try await expectRefusal(code) {
                    try await store.erase(.sample(account: account, scope: scope))
                }
            }
            try expectEqual(try await store.account(account.id), before)
            try expectEqual(try await store.allEvents(), events)
            try expectEqual(try await store.heldTokens(), [.sample(1)])
            try expectEqual(try await store.erasure(of: account.id), nil)
            let both = AppScope.only(["com.example.app", "com.example.other", "org.example.app"])
            let record = try await store.erase(.sample(account: account, scope: both))
            try expectEqual(record.apps.map(\.clientID), ["com.example.app", "com.example.other"])
        },
        ConformanceCheck("counts an app that only Apple's revocation tells of") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.notify(.sample(clientID: "com.example.other", at: 2000))
            try await expectRefusal(.callerForbidden) {
                try await store.erase(.sample(account: account, scope: .only(["com.example.app"])))
            }
        },
        ConformanceCheck("leaves an account without any app to callers who are not limited") { store in
            let id = AccountID(.sample(77))
            try await store.transfer(
                TransferCommand(
                    accountID: id, from: nil, to: .sample(), clientID: "com.example.app", email: nil,
                    createdAt: 1,
                    receivedAt: 2000))
            let account = try unwrap(try await store.account(id))
            try await expectRefusal(.accountNotFound) {
                try await store.erase(.sample(account: account, scope: .only(["com.example.app"])))
            }
            try await store.erase(.sample(account: account))
        },
        ConformanceCheck("sees an app that the user has signed in to just before, in the same batch") {
            store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            let limited = EraseCommand.sample(account: account, scope: .only(["com.example.app"]))
            let results = try await store.commit([
                .signIn(.sample(clientID: "com.example.other", authorizedAt: 2000)), .erase(limited),
            ]).results
            try expectEqual(results.last, .refused(AccountRefusal(.callerForbidden)))
            try expectEqual(
                try await store.account(account.id)?.credentials.map(\.clientID),
                ["com.example.app", "com.example.other"])
        },
        ConformanceCheck("never erases an app that the caller may not see, in 200 racing rounds") { store in
            for round in 1...200 as ClosedRange<UInt64> {
                let key = SubjectKey.sample(AppleSubject(stringLiteral: "user-\(round)"))
                let account = try await store.signIn(.sample(key: key, authorizedAt: 1000)).account
                let limited = EraseCommand.sample(round, account: account, scope: .only(["com.example.app"]))
                async let other = store.commit([
                    .signIn(.sample(key: key, clientID: "com.example.other", authorizedAt: 6_000_000))
                ])
                async let erased = store.commit([.erase(limited)])
                _ = try await other
                switch try await erased.results.first {
                case .done(.erased(let record)):
                    try expectEqual(record.apps.map(\.clientID), ["com.example.app"])
                    // The other app's sign-in came later, and made an account of its own.
                    let credentials = try await store.account(key)?.credentials
                    try expectEqual(credentials?.map(\.clientID), ["com.example.other"])
                case let result:
                    try expectEqual(result, .refused(AccountRefusal(.callerForbidden)))
                    try expectEqual(try await store.account(account.id)?.credentials.count, 2)
                }
            }
        },
    ]
}
