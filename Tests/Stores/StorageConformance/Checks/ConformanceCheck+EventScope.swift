import AppleAccounts

extension ConformanceCheck {
    private static let own = AppScope.only(["com.example.app"])
    private static let stranger = SubjectKey.sample("stranger")
    private static let shared = SubjectKey.sample("shared")

    static let eventScope = [
        ConformanceCheck("tells a limited caller of users who use its apps, and of no others") { store in
            let account = try await tellEverything(of: .sample(), in: store)
            let other = try await tellEverything(
                of: stranger, clientID: "com.example.other", number: 2, in: store)
            for isErased in [false, true] {
                if isErased {
                    for (number, id) in [(1, account.id), (2, other.id)] as [(UInt64, AccountID)] {
                        let account = try unwrap(try await store.account(id))
                        try await store.erase(.sample(number, account: account, at: 90_000))
                    }
                }
                let all = try await store.allEvents()
                let told = try await events(visibleTo: own, in: store)
                try expectEqual(told, all.filter { $0.accountID == account.id })
                let kinds = Set(AccountEvent.Kind.allCases)
                    .subtracting(
                        [.grantCreated, .grantRevoked, .tokenRevoked] + (isErased ? [] : [.accountErased]))
                try expectEqual(Set(told.map(\.kind)), kinds)
                try expectEqual(
                    try await events(visibleTo: .only(["com.example.other"]), in: store),
                    all.filter { $0.accountID == other.id })
                try expectEqual(
                    try await events(visibleTo: .only(["com.example.app", "com.example.other"]), in: store),
                    all)
                try expectEqual(try await events(visibleTo: .only(["com.example.third"]), in: store), [])
                try expectEqual(try await events(visibleTo: .only([]), in: store), [])
            }
        },
        ConformanceCheck(
            "tells every app of a user what happens to the account, and each its own credential"
        ) {
            store in
            try await store.signIn(.sample(key: shared, clientID: "com.example.other", authorizedAt: 1000))
            // Apple's revocation is enough, and an erasure hides nothing that was told.
            try await store.notify(.sample(key: shared, clientID: "com.example.app", at: 2000))
            try await store.signIn(
                .sample(key: shared, clientID: "com.example.other", authorizedAt: 3000, firstName: "Ada"))
            let account = try unwrap(try await store.account(shared))
            let expected: [AccountEvent.Kind] = [.accountCreated, .credentialRevoked, .profileChanged]
            try expectEqual(try await events(visibleTo: own, in: store).map(\.kind), expected)
            try await store.erase(.sample(account: account, at: 9000))
            try expectEqual(
                try await events(visibleTo: own, in: store).map(\.kind), expected + [.accountErased])
        },
        ConformanceCheck("keeps to itself the new account of a user who was erased for another app") {
            store in
            let old = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.erase(.sample(account: old, at: 5000))
            let new = try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 6000))
                .account
            let told = try await events(visibleTo: own, in: store)
            try expectEqual(Set(told.map(\.accountID)), [old.id])
            try expectEqual(
                Set(try await events(visibleTo: .only(["com.example.other"]), in: store).map(\.accountID)),
                [new.id])
        },
        ConformanceCheck("tells nothing twice and leaves out nothing, page by page, for every reader") {
            store in
            for number in 0..<20 {
                let apps: [ClientID] = number % 3 == 0 ? ["com.example.app"] : ["com.example.other"]
                for clientID in apps + (number % 5 == 0 ? ["com.example.app"] : []) {
                    try await store.signIn(
                        .sample(key: .sample("p\(number)"), clientID: clientID, authorizedAt: 1000))
                }
            }
            let last = try await store.allEvents().last?.sequence
            for scope in [own, .only(["com.example.other"]), .only(["never.seen"])] {
                let whole = try await events(visibleTo: scope, in: store)
                for limit in [1, 2, 7] {
                    try expectEqual(try await events(visibleTo: scope, limit: limit, in: store), whole)
                }
                let end = try await store.events(after: 0, limit: 1000, visibleTo: scope)
                try expectEqual(end.cursor, last ?? 0)
            }
        },
        ConformanceCheck("tells the first event of an app that is new while its caller reads") { store in
            let names = (0..<40).map { ClientID(stringLiteral: "com.example.new\($0)") }
            async let told = follow(store, visibleTo: .only(Set(names)), until: 80)
            for (number, name) in names.enumerated() {
                try await store.signIn(.sample(key: .sample("p\(number)"), clientID: name))
            }
            try expectEqual(try await told, try await store.allEvents())
        },
    ]

    /// Makes all kinds of events except the last, about one user of one app.
    private static func tellEverything(
        of key: SubjectKey, clientID: ClientID = "com.example.app", number: Int = 1,
        in store: any ConformingStore
    ) async throws -> Account {
        let account = try await store.signIn(.sample(key: key, clientID: clientID, authorizedAt: 1000))
            .account
        try await store.signIn(
            .sample(
                key: key, clientID: clientID, authorizedAt: 2000, email: .sample("new@example.com"),
                firstName: "Ada"))
        try await store.notify(
            .sample(.emailForwarding(.disabled, nil), key: key, clientID: clientID, at: 3000))
        try await store.notify(.sample(key: key, clientID: clientID, at: 4000))
        try await store.notify(.sample(.appleAccountDeleted, key: key, clientID: clientID, at: 5000))
        try await store.change(DisableCommand.sample(account, at: 5100))
        try await store.change(EnableCommand.sample(account, at: 5200))
        try await store.change(SignOutCommand.sample(account, at: 5300))
        try await store.transfer(
            TransferCommand(
                accountID: account.id, from: key, to: .sample(team: "OTHERTEAM1", "moved-\(number)"),
                clientID: clientID, email: nil, createdAt: 1, receivedAt: 6000))
        return account
    }

    private static func events(
        visibleTo scope: AppScope, limit: Int = 100, in store: any ConformingStore
    ) async throws -> [AccountEvent] {
        var (events, cursor, hasMore): ([AccountEvent], Int64, Bool) = ([], 0, true)
        while hasMore {
            let page = try await store.events(after: cursor, limit: limit, visibleTo: scope)
            try expect(page.events.count <= limit, "a page is no longer than asked for")
            events += page.events
            (cursor, hasMore) = (page.cursor, page.hasMore)
        }
        return events
    }

    /// Reads the feed until this many events were read, or until its end.
    private static func follow(
        _ store: any ConformingStore, visibleTo scope: AppScope, until last: Int64
    ) async throws -> [AccountEvent] {
        var (events, cursor): ([AccountEvent], Int64) = ([], 0)
        while cursor < last {
            try Task.checkCancellation()
            let page = try await store.events(after: cursor, limit: 100, visibleTo: scope)
            events += page.events
            cursor = page.cursor
        }
        return events
    }
}
