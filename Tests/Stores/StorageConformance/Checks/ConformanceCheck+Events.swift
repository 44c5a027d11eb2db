import AppleAccounts

extension ConformanceCheck {
    static let events = [
        ConformanceCheck("tells of a new account and its credential") { store in
            let outcome = try await store.signIn(.sample(authorizedAt: 5000, receivedAt: 6000))
            let events = try await store.allEvents()
            try expectEqual(events.map(\.kind), [.accountCreated, .credentialAuthorized])
            for event in events {
                try expectEqual(event.team, "A1B2C3D4E5")
                try expectEqual(event.subject, SubjectKey.sample().subject)
                try expectEqual(event.accountID, outcome.account.id)
                try expectEqual(event.source, .signIn)
                try expectEqual(event.moment, 5000)
                try expectEqual(event.recordedAt, 6000)
            }
            try expectEqual(events.map(\.clientID), [nil, "com.example.app"])
            try expectEqual(events.map(\.reason), [nil, .signedIn])
            try expect(events[0].id != events[1].id, "each event has its own ID")
        },
        ConformanceCheck("tells nothing when a known sign-in has nothing new") { store in
            try await store.signIn(.sample(authorizedAt: 5000, firstName: "Ada"))
            let before = try await store.allEvents()
            try await store.signIn(.sample(authorizedAt: 6000, firstName: "Ada"))
            try await store.signIn(.sample(authorizedAt: 6000))
            let result = try await store.commit([.signIn(.sample(authorizedAt: 7000))])
            try expectEqual(result.lastEventSequence, nil)
            try expectEqual(try await store.allEvents(), before)
        },
        ConformanceCheck("tells what a known sign-in changed") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.signIn(.sample(authorizedAt: 6000, email: .sample("new@example.com")))
            try await store.signIn(.sample(authorizedAt: 7000, email: nil, firstName: "Ada"))
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 8000, email: nil))
            try await store.notify(.sample(at: 9000))
            try await store.signIn(.sample(authorizedAt: 9001, email: nil))
            let events = try await store.allEvents()
            try expectEqual(
                events.dropFirst(2).map(\.kind),
                [
                    .emailChanged, .profileChanged, .credentialAuthorized, .credentialRevoked,
                    .credentialAuthorized,
                ])
            try expectEqual(
                events.dropFirst(2).map(\.clientID),
                [nil, nil, "com.example.other", "com.example.app", "com.example.app"])
            try expectEqual(events[5].reason, .consentRevoked)
            try expectEqual(events[5].source, .notification)
            try expectEqual(events[5].moment, 9000)
        },
        ConformanceCheck("tells once that a credential is revoked") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.notify(.sample(at: 6000))
            try await store.notify(.sample(at: 7000))
            try await store.notify(.sample(at: 4000))
            try expectEqual(try await store.eventKinds().dropFirst(2), [.credentialRevoked])
        },
        ConformanceCheck("tells of a revocation of a user not known yet") { store in
            try await store.notify(.sample(at: 6000))
            let events = try await store.allEvents()
            try expectEqual(events.map(\.kind), [.credentialRevoked])
            try expectEqual(events[0].accountID, nil)
            // The account that comes later does not change what was told.
            try await store.signIn(.sample(authorizedAt: 7000))
            try expectEqual(try await store.allEvents()[0], events[0])
        },
        ConformanceCheck("tells of a deleted account and of each credential that it ends") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 5000))
            try await store.notify(.sample(clientID: "com.example.other", at: 5500))
            try await store.notify(.sample(.appleAccountDeleted, at: 6000))
            let events = try await store.allEvents().suffix(2)
            try expectEqual(events.map(\.kind), [.accountDeleted, .credentialRevoked])
            try expectEqual(events.map(\.clientID), [nil, "com.example.app"])
            try expectEqual(events.map(\.reason), [.appleAccountDeleted, .appleAccountDeleted])
        },
        ConformanceCheck("tells when forwarding or address changed") { store in
            try await store.signIn(.sample(authorizedAt: 5000))
            let relay = EmailAddress.sample("abc@privaterelay.appleid.com", isPrivate: true)
            try await store.notify(.sample(.emailForwarding(.disabled, relay), at: 6000))
            try await store.notify(.sample(.emailForwarding(.disabled, relay), at: 7000))
            try await store.notify(.sample(.emailForwarding(.enabled, nil), at: 6500))
            try expectEqual(
                try await store.eventKinds().dropFirst(2), [.emailForwardingChanged, .emailChanged])
        },
        ConformanceCheck("gives the feed in pages without gap") { store in
            for number in 0..<7 { try await store.signIn(.sample(key: .sample("\(number)-user"))) }
            let all = try await store.allEvents()
            try expectEqual(all.count, 14)
            try expectEqual(all.map(\.sequence), all.map(\.sequence).sorted())
            try expectEqual(Set(all.map(\.sequence)).count, 14)
            var cursor: Int64 = 0
            var collected: [AccountEvent] = []
            for expectedCount in [5, 5, 4] {
                let page = try await store.events(after: cursor, limit: 5, visibleTo: .all)
                try expectEqual(page.events.count, expectedCount)
                collected += page.events
                cursor = page.cursor
            }
            try expectEqual(collected, all)
            let end = try await store.events(after: cursor, limit: 5, visibleTo: .all)
            try expectEqual(end, EventPage(events: [], cursor: cursor, hasMore: false))
        },
        ConformanceCheck("numbers the last event of a batch") { store in
            let result = try await store.commit([.signIn(.sample())])
            try expectEqual(result.lastEventSequence, try await store.allEvents().last?.sequence)
        },
        ConformanceCheck("knows the number of the last event, seen or not") { store in
            try expectEqual(try await store.lastEventSequence(), 0)
            for number in 1...3 { try await store.signIn(.sample(key: .sample("p\(number)"))) }
            let last = try await store.allEvents().last?.sequence
            try expectEqual(try await store.lastEventSequence(), last ?? 0)
            try await store.signIn(.sample(key: .sample("p1")))
            try expectEqual(try await store.lastEventSequence(), last ?? 0)
        },
        ConformanceCheck("tells moments with which a late reader knows the sessions that ended") { store in
            // Signed in, revoked, signed in again, all before the reader comes.
            let first = try await store.signIn(.sample(authorizedAt: 5000)).credential.since
            try await store.notify(.sample(at: 5999))
            let second = try await store.signIn(.sample(authorizedAt: 6000)).credential.since
            let revocations = try await store.allEvents().filter { $0.kind == .credentialRevoked }
            try expectEqual(revocations.map(\.moment), [5999])
            try expect(first.map { $0 <= 5999 } == true, "the session before ends")
            try expect(second.map { $0 > 5999 } == true, "the session after stays")
        },
        ConformanceCheck("shows a reader the events of its apps") { store in
            try await store.signIn(.sample())
            try await store.signIn(.sample(clientID: "com.example.other"))
            try await store.signIn(
                .sample(key: .sample(team: "OTHERTEAM1"), clientID: "org.example.app"))
            let page = try await store.events(
                after: 0, limit: 100,
                visibleTo: .only(["com.example.other"]))
            try expectEqual(page.events.map(\.kind), [.accountCreated, .credentialAuthorized])
            try expectEqual(page.events.map(\.clientID), [nil, "com.example.other"])
            try expectEqual(page.cursor, try await store.allEvents().last?.sequence)
            let nothing = try await store.events(
                after: 0, limit: 100, visibleTo: .only(["never.seen"]))
            try expectEqual(nothing.events, [])
            try expectEqual(nothing.cursor, page.cursor)
        },
        ConformanceCheck("brings a reader past events that are not its own") { store in
            _ = try await store.commit(
                (0..<400).map { number in
                    let key = SubjectKey.sample(team: "OTHERTEAM1", "p\(number)")
                    return .signIn(.sample(key: key, clientID: "org.example.app"))
                })
            try await store.signIn(.sample())
            let scope = AppScope.only(["com.example.app"])
            var page = EventPage(events: [], cursor: 0, hasMore: true)
            var found: [AccountEvent] = []
            var calls = 0
            while page.hasMore {
                page = try await store.events(after: page.cursor, limit: 1, visibleTo: scope)
                found += page.events
                calls += 1
                try expect(calls < 1000, "the reader gets on")
            }
            try expectEqual(found.map(\.kind), [.accountCreated, .credentialAuthorized])
        },
    ]
}

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
