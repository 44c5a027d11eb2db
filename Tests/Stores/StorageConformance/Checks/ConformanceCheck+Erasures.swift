import AppleAccounts

extension ConformanceCheck {
    static let erasures = [
        ConformanceCheck("forgets a user who is erased, and keeps what is to be done") { store in
            var account = try await store.hold(1, authorizedAt: 1000)
            try await store.signIn(
                .sample(
                    clientID: "com.example.other", authorizedAt: 2000, firstName: "Ada",
                    refreshTokenCause: .noSealingKey))
            try await store.signIn(
                .sample(authorizedAt: 3000, authorizationCode: .sample(2, redirectURI: "https://a.example")))
            account = try unwrap(try await store.account(account.id))
            let record = try await store.erase(.sample(1, account: account, at: 5000))
            try expectEqual(record.accountID, account.id)
            try expectEqual(record.team, account.team)
            try expectEqual(record.finishedAt, nil)
            try expectEqual(
                record.apps,
                [
                    ErasedApp(
                        clientID: "com.example.app", hadToken: true, stateBefore: .authorized,
                        reasonBefore: .signedIn),
                    ErasedApp(
                        clientID: "com.example.other", hadToken: false, stateBefore: .authorized,
                        reasonBefore: .signedIn, refreshTokenCause: .noSealingKey),
                ])
            try expectEqual(record.tokens.map(\.id), [.sample(1), .sample(2)])
            try expectEqual(record.tokens.map(\.kind), [.refreshToken, .authorizationCode])
            try expectEqual(record.tokens.map(\.step), [.revoke, .exchange])
            try expectEqual(record.tokens.map(\.redirectURI), [nil, "https://a.example"])
            try expectEqual(record.tokens.map(\.expiresAt), [nil, 1_300_000])
            try expectEqual(try await store.erasure(record.id), record)
            try expectEqual(try await store.erasure(of: account.id), record)

            try expectEqual(try await store.account(account.id), nil)
            try expectEqual(try await store.account(.sample()), nil)
            for clientID in ["com.example.app", "com.example.other", "never.seen"] as [ClientID] {
                let credential = try await store.credential(.sample(), clientID)
                try expectEqual(credential.state, .revoked)
                try expectEqual(credential.reason, .erased)
                try expectEqual(credential.source, .erasure)
                try expectEqual(credential.since, 5000)
                try expectEqual(credential.refreshToken, nil)
            }
            try expectEqual(try await store.heldTokens(), [])
            try expectEqual(try await store.waitingCodes(), [])
            try expectEqual(try await store.nextDue(), AppleTokensDue(erasure: 5000))
            // Two tokens wait for their revocation.
            try expectEqual(
                try await store.backlog(at: 5000),
                AppleTokensBacklog(erasures: AppleTokensBacklog.Queue(count: 2, since: 5000)))
        },
        ConformanceCheck("is over at once with an account that nothing was held for") { store in
            let account = try await store.signIn(.sample()).account
            let record = try await store.erase(.sample(account: account, at: 5_000_000))
            try expectEqual(record.finishedAt, 5_000_000)
            try expectEqual(try await store.erasure(record.id), record)
            try expectEqual(try await store.nextDue(), AppleTokensDue())
        },
        ConformanceCheck("tells of an erasure, and no longer whom any event was about") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 1000))
            try await store.notify(.sample(clientID: "com.example.other", at: 2000))
            try await store.signIn(.sample(key: .sample("somebody-else")))
            let before = try await store.allEvents()
            try await store.erase(.sample(account: account, at: 5000))
            let events = try await store.allEvents()
            try expectEqual(events.map(\.sequence).prefix(before.count), before.map(\.sequence)[...])
            try expectEqual(events.map(\.id).prefix(before.count), before.map(\.id)[...])
            let others = before.filter { $0.accountID != account.id }
            try expectEqual(others.count, 2)
            try expectEqual(events.filter { $0.subject != nil }, others)
            let told = events.suffix(2)
            // The other app's was revoked before.
            try expectEqual(told.map(\.kind), [.credentialRevoked, .accountErased])
            try expectEqual(told.map(\.clientID), ["com.example.app", nil])
            for event in told {
                try expectEqual(event.team, account.team)
                try expectEqual(event.subject, nil)
                try expectEqual(event.accountID, account.id)
                try expectEqual(event.reason, .erased)
                try expectEqual(event.source, .erasure)
                try expectEqual(event.moment, 5000)
            }
        },
        ConformanceCheck("erases nothing but the account that is meant") { store in
            let account = try await store.hold(1)
            let wrong = Account(
                id: AccountID(.sample(9)), team: account.team, subject: account.subject, createdAt: 1)
            try await expectRefusal(.accountNotFound) { try await store.erase(.sample(account: wrong)) }
            try expectEqual(try await store.account(account.id), account)
            try await store.erase(.sample(1, account: account))
            try await expectRefusal(.accountNotFound) { try await store.erase(.sample(2, account: account)) }
            try expectEqual(try await store.erasure(ErasureID(.sample(2))), nil)
        },
        ConformanceCheck("lets no old token and no late word bring an erased user back") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.erase(.sample(account: account, at: 5000))
            let events = try await store.allEvents()
            for moment in [1000, 4999, 5000] as [Moment] {
                for createsAccount in [true, false] {
                    try await expectRefusal(.credentialRevoked) {
                        try await store.signIn(
                            .sample(authorizedAt: moment, createsAccount: createsAccount))
                    }
                }
            }
            let relay = EmailAddress.sample("abc@privaterelay.appleid.com", isPrivate: true)
            try await store.notify(.sample(.emailForwarding(.disabled, relay), at: 9000))
            try await store.notify(.sample(.unknown, at: 9000))
            try await store.notify(.sample(at: 4000))
            try expectEqual(try await store.credential().since, 5000)
            try await store.notify(.sample(clientID: "com.example.other", at: 7000))
            try expectEqual(try await store.credential().since, 7000)
            try expectEqual(try await store.credential().reason, .erased)
            try await store.notify(.sample(.appleAccountDeleted, at: 8000))
            try expectEqual(try await store.credential().since, 8000)
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.allEvents(), events)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 8000))
            }
        },
        ConformanceCheck("takes a repeated notification about an erased user once") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.erase(.sample(account: account, at: 5000))
            let late = NotificationCommand.sample(at: 7000, identifier: "jti-1")
            let first = try await store.commit([.notification(late), .notification(late)])
            try expectEqual(
                first.results, [.done(.notification(.unchanged)), .done(.notification(.duplicate))])
            try expectEqual(try await store.notify(late), .duplicate)
        },
        ConformanceCheck("makes a new account for an erased user who signs in again") { store in
            let old = try await store.hold(1, authorizedAt: 1000)
            try await store.signIn(.sample(authorizedAt: 1500, firstName: "Ada"))
            try await store.erase(.sample(account: old, at: 5000))
            try await expectRefusal(.accountNotFound) {
                try await store.signIn(.sample(authorizedAt: 5001, createsAccount: false))
            }
            let new = try await store.signIn(
                .sample(authorizedAt: 5001, email: nil, authorizationCode: .sample(2)))
            try expect(new.isNewAccount, "the account is new")
            try expect(new.account.id != old.id, "it has another ID")
            try expectEqual(new.account.profile.firstName, nil)
            try expectEqual(new.account.email, nil)
            try expectEqual(new.account.credentials.map(\.clientID), ["com.example.app"])
            try expectEqual(new.credential.state, .authorized)
            try expectEqual(new.credential.refreshToken, .pending)
            try expectEqual(try await store.account(.sample()), new.account)
            try expectEqual(try await store.account(old.id), nil)
            // What was erased stays so for apps that have not been signed in to again.
            try expectEqual(try await store.credential(.sample(), "com.example.other").state, .revoked)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(clientID: "com.example.other", authorizedAt: 5000))
            }
            let told = try await store.allEvents()
            try expectEqual(told.filter { $0.accountID == old.id }.compactMap(\.subject), [])
            try expectEqual(
                told.filter { $0.accountID == new.account.id }.map(\.subject),
                [SubjectKey.sample().subject, SubjectKey.sample().subject])
        },
        ConformanceCheck("erases a user a second and a third time") { store in
            var ids: Set<AccountID> = []
            for round in 1...3 as ClosedRange<UInt64> {
                let base = Int64(round) * 10_000
                let account = try await store.hold(round, authorizedAt: Moment(milliseconds: base))
                ids.insert(account.id)
                let record = try await store.erase(
                    .sample(round, account: account, at: Moment(milliseconds: base + 5000)))
                try expectEqual(record.tokens.map(\.id), [.sample(round)])
                try expectEqual(try await store.credential().since?.milliseconds, base + 5000)
            }
            try expectEqual(ids.count, 3)
            try expectEqual(try await store.allEvents().compactMap(\.subject), [])
            try expectEqual(try await store.eventKinds().count, 12)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 35_000))
            }
        },
        ConformanceCheck("never sets a tombstone before what Apple has said already") { store in
            // Our clock is behind Apple's: the sign-in's token must not pass once more.
            let account = try await store.signIn(.sample(authorizedAt: 9000)).account
            try await store.notify(.sample(clientID: "com.example.other", at: 9500))
            try await store.erase(.sample(account: account, at: 5000))
            try expectEqual(try await store.credential().since, 9500)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizedAt: 9500))
            }
        },
        ConformanceCheck("goes on with the rest of a batch around an erasure") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            let result = try await store.commit([
                .signIn(.sample(authorizedAt: 2000)), .signIn(.sample(key: .sample("one"))),
                .erase(.sample(account: account, at: 5000)),
                .signIn(.sample(authorizedAt: 4000)), .notification(.sample(at: 6000)),
                .signIn(.sample(authorizedAt: 7000)), .signIn(.sample(key: .sample("two"))),
            ])
            try expectEqual(result.results.count, 7)
            try expectEqual(result.results[3], .refused(AccountRefusal(.credentialRevoked)))
            guard case .done(.signedIn(let last)) = result.results[5] else {
                throw ConformanceFailure(description: "found \(result.results[5])")
            }
            try expect(last.isNewAccount, "the account is new")
            try expectEqual(result.lastEventSequence, try await store.allEvents().last?.sequence)
            try expect(try await store.account(.sample("two")) != nil, "the last is there")
        },
    ]
}

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
