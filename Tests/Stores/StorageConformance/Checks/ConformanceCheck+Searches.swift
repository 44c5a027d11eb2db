import AppleAccounts
import AuthorizationServer
import Cryptography

extension ConformanceCheck {
    /// Makes people with all that a search can ask for. Returns their accounts, the oldest first.
    private static func people(in store: any ConformingStore) async throws -> [Account] {
        let names = [("Ada", "Lovelace"), ("Grace", "Hopper"), ("Ada", "von Bergen"), ("Mary", "Ada")]
        for (number, name) in names.enumerated() {
            try await store.signIn(
                .sample(
                    key: .sample("person-\(number)"),
                    clientID: number == 1 ? "com.example.other" : "com.example.app",
                    authorizedAt: Moment(milliseconds: Int64(number + 1) * 1000),
                    email: .sample(
                        number == 2 ? "r2@privaterelay.appleid.com" : "Person\(number)@Example.com",
                        isPrivate: number == 2),
                    firstName: name.0, lastName: name.1))
        }
        try await store.signIn(
            .sample(
                key: .sample("person-4"), authorizedAt: 5000, email: nil,
                unsignedEmail: "Posted@example.com"))
        var accounts: [Account] = []
        for number in 0..<5 {
            accounts.append(try unwrap(try await store.account(.sample("person-\(number)"))))
        }
        return accounts
    }

    private static func found(
        _ key: AccountSearch.Key? = nil, _ filter: AccountFilter = AccountFilter(),
        in store: any ConformingStore, scope: AppScope = .all, limit: Int = 10, at moment: Moment = 10_000
    ) async throws -> [AccountID] {
        let search = AccountSearch(key: key, filter: filter, scope: scope)
        var ids: [AccountID] = []
        var position: SearchPosition?
        repeat {
            let page = try await store.accounts(search, after: position, limit: limit, at: moment)
            try expect(page.accounts.count <= limit, "a page has \(page.accounts.count) accounts")
            ids += page.accounts.map(\.id)
            position = page.next
        } while position != nil
        try expectEqual(Set(ids).count, ids.count)
        return ids
    }

    static let searches = [
        ConformanceCheck("finds accounts by address, relay address and posted address, in any case of ASCII")
        {
            store in
            let people = try await people(in: store)
            for (text, number) in [
                ("person0@example.com", 0), ("PERSON1@EXAMPLE.COM", 1), ("R2@PrivateRelay.appleid.com", 2),
                ("posted@EXAMPLE.com", 4),
            ] {
                try expectEqual(try await found(.email(text), in: store), [people[number].id])
            }
            for text in ["person", "person0@example", "%", "r_@privaterelay.appleid.com", ""] {
                try expectEqual(try await found(.email(text), in: store), [])
            }
        },
        ConformanceCheck("finds an address that Apple's notification brought, and no longer the old one") {
            store in
            let people = try await people(in: store)
            try await store.notify(
                .sample(
                    .emailForwarding(.enabled, .sample("new@privaterelay.appleid.com", isPrivate: true)),
                    key: .sample("person-0"), at: 6000))
            try expectEqual(
                try await found(.email("new@privaterelay.appleid.com"), in: store), [people[0].id])
            try expectEqual(try await found(.email("person0@example.com"), in: store), [])
        },
        ConformanceCheck("finds accounts by first name, last name and both, the newest first") { store in
            let people = try await people(in: store)
            for (text, numbers) in [
                ("ada", [3, 2, 0]), ("HOPPER", [1]), ("grace hopper", [1]), ("Ada von Bergen", [2]),
                ("von bergen", [2]), ("Ada  Lovelace", [0]), ("ada hopper", []), ("bergen", []), (" ", []),
            ] as [(String, [Int])] {
                try expectEqual(try await found(.name(text), in: store), numbers.map { people[$0].id })
                try expectEqual(
                    try await found(.name(text), in: store, limit: 1), numbers.map { people[$0].id })
            }
        },
        ConformanceCheck("finds an account by its ID, by sub and by grant") { store in
            let people = try await people(in: store)
            let grant = try await store.link(1, key: .sample("person-3"), at: 6000)
            try expectEqual(try await found(.account(people[2].id), in: store), [people[2].id])
            try expectEqual(try await found(.account(AccountID(.sample(99))), in: store), [])
            try expectEqual(try await found(.subject("person-1"), in: store), [people[1].id])
            try expectEqual(try await found(.subject("nobody"), in: store), [])
            let id = try unwrap(try await store.grants(of: people[3].id).first).id
            try expectEqual(try await found(.grant(id), in: store), [people[3].id])
            try expectEqual(try await found(.grant(GrantID(.sample(98))), in: store), [])
            try expectEqual(try await found(.grant(id), in: store, scope: .only(["com.example.other"])), [])
            _ = grant
        },
        ConformanceCheck("filters by app, state, reason, disabling, link, Apple token and time of creation") {
            store in
            let people = try await people(in: store)
            try await store.notify(.sample(key: .sample("person-0"), at: 7000))
            try await store.hold(2, key: .sample("person-2"), authorizedAt: 7000)
            try await store.link(1, key: .sample("person-3"), at: 7000)
            try await store.change(DisableCommand.sample(people[4], until: 20_000, at: 8000))
            func found(_ filter: AccountFilter, at moment: Moment = 10_000) async throws -> Set<AccountID> {
                Set(try await Self.found(nil, filter, in: store, limit: 1, at: moment))
            }
            for (filter, numbers) in [
                (AccountFilter(), [0, 1, 2, 3, 4]),
                (AccountFilter(clientID: "com.example.other"), [1]),
                (AccountFilter(clientID: "com.example.none"), []),
                (AccountFilter(state: .revoked), [0]), (AccountFilter(state: .authorized), [1, 2, 3, 4]),
                (AccountFilter(reason: .consentRevoked), [0]), (AccountFilter(reason: .erased), []),
                (AccountFilter(clientID: "com.example.other", state: .revoked), []),
                (AccountFilter(isDisabled: true), [4]), (AccountFilter(isDisabled: false), [0, 1, 2, 3]),
                (AccountFilter(isLinked: true), [3]), (AccountFilter(isLinked: false), [0, 1, 2, 4]),
                (AccountFilter(holdsAppleToken: true), [2]),
                (AccountFilter(holdsAppleToken: false), [0, 1, 3, 4]),
                (AccountFilter(createdAfter: people[2].createdAt), [3, 4]),
                (AccountFilter(holdsAppleToken: false, createdAfter: people[0].createdAt), [1, 3, 4]),
            ] as [(AccountFilter, [Int])] {
                try expectEqual(try await found(filter), Set(numbers.map { people[$0].id }))
            }
            // The disabling is over, although no command has removed it.
            try expectEqual(try await found(AccountFilter(isDisabled: true), at: 20_000), [])
        },
        ConformanceCheck("shows a limited caller the accounts of its apps, and counts no other credential") {
            store in
            let people = try await people(in: store)
            try await store.signIn(
                .sample(key: .sample("person-0"), clientID: "com.example.other", authorizedAt: 6000))
            try await store.notify(.sample(key: .sample("person-0"), at: 7000))
            try await store.change(DisableCommand.sample(people[3], until: 20_000, at: 8000))
            let scope = AppScope.only(["com.example.other"])
            for filter in [AccountFilter(), AccountFilter(createdAfter: 0)] {
                try expectEqual(
                    Set(try await found(nil, filter, in: store, scope: scope)),
                    [people[0].id, people[1].id])
            }
            let search = AccountSearch(scope: scope)
            let page = try await store.accounts(search, after: nil, limit: 10, at: 10_000)
            try expect(
                page.accounts.allSatisfy { $0.credentials.map(\.clientID) == ["com.example.other"] },
                "credentials of other apps are left out")
            for (key, filter) in [
                (.email("person3@example.com"), AccountFilter()), (.name("Mary"), AccountFilter()),
                (.account(people[2].id), AccountFilter()), (.subject("person-2"), AccountFilter()),
                (nil, AccountFilter(state: .revoked)), (nil, AccountFilter(isDisabled: true)),
                (nil, AccountFilter(reason: .consentRevoked)),
                (nil, AccountFilter(clientID: "com.example.app")),
            ] as [(AccountSearch.Key?, AccountFilter)] {
                try expectEqual(try await found(key, filter, in: store, scope: scope), [])
            }
            try expectEqual(try await found(in: store, scope: .only([])), [])
        },
        ConformanceCheck("finds no user without an account, and no erased account") { store in
            let people = try await people(in: store)
            try await store.notify(.sample(key: .sample("stranger"), at: 7000))
            try await store.erase(.sample(account: people[0], at: 9000))
            try expectEqual(try await found(.subject("stranger"), in: store), [])
            try expectEqual(try await found(.email("person0@example.com"), in: store), [])
            try expectEqual(try await found(.account(people[0].id), in: store), [])
            try expectEqual(try await found(nil, AccountFilter(state: .revoked), in: store), [])
            try expectEqual(try await found(in: store).count, 4)
        },
        ConformanceCheck("gives the events of one account, with its scope") { store in
            let people = try await people(in: store)
            try await store.notify(.sample(key: .sample("person-0"), at: 7000))
            let id = people[0].id
            let all = try await store.allEvents().filter { $0.accountID == id }
            try expectEqual(all.map(\.kind), [.accountCreated, .credentialAuthorized, .credentialRevoked])
            var page = try await store.events(of: id, after: 0, limit: 2, visibleTo: .all)
            try expectEqual(page.events, Array(all.prefix(2)))
            try expect(page.hasMore, "one more event follows")
            page = try await store.events(of: id, after: page.cursor, limit: 2, visibleTo: .all)
            try expectEqual(page.events, Array(all.dropFirst(2)))
            try expect(!page.hasMore, "no event follows")
            try expectEqual(
                try await store.lastEvents(of: id, limit: 2, visibleTo: .all), Array(all.reversed().prefix(2))
            )
            let other = AppScope.only(["com.example.other"])
            try expectEqual(
                try await store.events(of: id, after: 0, limit: 9, visibleTo: other).events, [])
            try expectEqual(try await store.lastEvents(of: id, limit: 9, visibleTo: other), [])
            try await store.erase(.sample(account: people[0], at: 9000))
            let kinds = try await store.events(
                of: id, after: 0, limit: 9, visibleTo: .only(["com.example.app"])
            ).events.map(\.kind)
            try expectEqual(kinds.last, .accountErased)
        },
    ]
}

extension ConformanceCheck {
    /// Reads for operators.
    static let inspection = [
        ConformanceCheck("shows a code by its digest, before and after its use") { store in
            let account = try await store.signIn(.sample()).account
            let grant = try await store.authorize(.sample(account: account.id))
            let command = RedeemCommand.sample()
            let code = try unwrap(try await store.code(withDigest: command.codeDigest))
            try expectEqual(code.grantID, grant.id)
            try expectEqual(code.accountID, account.id)
            try expectEqual(code.redemption, nil)
            try await store.redeem(command)
            let redeemed = try unwrap(try await store.code(withDigest: command.codeDigest))
            try expectEqual(redeemed.redemption?.familyID, .sample(1))
            try expectEqual(try await store.code(withDigest: .hash("another")), nil)
        },
        ConformanceCheck("shows a device by the digest of its device code") { store in
            let device = DeviceAuthorization.sample(1)
            try await store.begin(device)
            try expectEqual(try await store.device(withDigest: device.digest), device)
            try expectEqual(try await store.device(withDigest: device.userCodeDigest), nil)
        },
        ConformanceCheck("counts grants and token families by client, and says when it looked at a part") {
            store in
            try expectEqual(try await store.clientUsage(lookingAt: 10).grants, [:])
            let first = try await store.signIn(.sample()).account
            let second = try await store.signIn(.sample(key: .sample("another"))).account
            try await store.authorize(.sample(account: first.id))
            try await store.redeem(.sample())
            try await store.authorize(.sample(2, account: second.id))
            let usage = try await store.clientUsage(lookingAt: 10)
            try expectEqual(usage.grants, ["phone": 2])
            try expectEqual(usage.families, ["phone": 1])
            try expect(!usage.isSampleOfGrants && !usage.isSampleOfFamilies, "all rows were counted")
            let part = try await store.clientUsage(lookingAt: 1)
            try expectEqual(part.grants, ["phone": 1])
            try expect(part.isSampleOfGrants, "a part was counted")
        },
        ConformanceCheck("shows notifications newest first, in pages, and only of the apps of the caller") {
            store in
            for number in 1...5 {
                let app: ClientID = number == 3 ? "com.example.other" : "com.example.app"
                try await store.notify(
                    .sample(
                        clientID: app, at: Moment(seconds: 6000 + Int64(number)),
                        identifier: InboxIdentifier(stringLiteral: "jti-\(number)")))
            }
            let first = try await store.notifications(before: nil, limit: 2, visibleTo: .all)
            try expectEqual(first.notifications.map(\.identifier.rawValue), ["jti-5", "jti-4"])
            let second = try await store.notifications(before: first.next, limit: 2, visibleTo: .all)
            try expectEqual(second.notifications.map(\.identifier.rawValue), ["jti-3", "jti-2"])
            let last = try await store.notifications(before: second.next, limit: 2, visibleTo: .all)
            try expectEqual(last.notifications.map(\.identifier.rawValue), ["jti-1"])
            try expectEqual(last.next, nil)
            try expectEqual(last.notifications.first?.receipt, .applied)
            try expectEqual(last.notifications.first?.clientID, "com.example.app")
            let other = try await store.notifications(
                before: nil, limit: 2, visibleTo: .only(["com.example.other"]))
            try expectEqual(other.notifications.map(\.identifier.rawValue), ["jti-3"])
            let none = try await store.notifications(before: nil, limit: 2, visibleTo: .only([]))
            try expectEqual(none.notifications, [])
        },
        ConformanceCheck("knows when the last notification came, also when its user is erased") { store in
            try expectEqual(try await store.lastNotification(), nil)
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            for number in 1...3 as ClosedRange<Int64> {
                let command = NotificationCommand.sample(
                    .unknown, at: Moment(milliseconds: 2000 + number),
                    identifier: InboxIdentifier(stringLiteral: "jti-\(number)"))
                try await store.notify(command)
                try expectEqual(try await store.lastNotification(), command.receivedAt)
            }
            let last = try await store.lastNotification()
            try await store.erase(.sample(account: account))
            try expectEqual(try await store.lastNotification(), last)
        },
        ConformanceCheck("shows Google's events newest first") { store in
            for number in 1...3 {
                _ = try await store.carryOut(
                    GoogleEventCommand(
                        jti: "jti-\(number)", payload: Array("token \(number)".utf8), events: [],
                        receivedAt: Moment(seconds: Int64(1000 + number))))
            }
            let all = try await store.googleEvents(before: nil, limit: 2)
            try expectEqual(all.map(\.jti), ["jti-3", "jti-2"])
            try expectEqual(all.first?.payload, Array("token 3".utf8))
            let older = try await store.googleEvents(before: all.last?.position, limit: 2)
            try expectEqual(older.map(\.jti), ["jti-1"])
        },
        ConformanceCheck("skips and repeats none of Google's events that came in one millisecond") { store in
            let names = ["b", "A", "a", "\u{e9}", "Z", "1", "~"]
            for name in names {
                _ = try await store.carryOut(
                    GoogleEventCommand(
                        jti: name, payload: Array("token".utf8), events: [], receivedAt: Moment(seconds: 1000)
                    ))
            }
            var found: [String] = []
            var position: GoogleEventPosition?
            for _ in 0..<names.count {
                let page = try await store.googleEvents(before: position, limit: 2)
                found += page.map(\.jti)
                position = page.last?.position ?? position
            }
            // By their bytes, the last first.
            try expectEqual(found, ["\u{e9}", "~", "b", "a", "Z", "A", "1"])
        },
    ]
}
