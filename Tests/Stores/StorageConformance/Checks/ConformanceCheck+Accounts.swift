import AppleAccounts

extension ConformanceCheck {
    static let accounts = [
        ConformanceCheck("finds nothing of a user never seen") { store in
            try expectEqual(try await store.account(.sample()), nil)
            let id = AccountID(UniqueID(high: 1, low: 2))
            try expectEqual(try await store.account(id), nil)
            try expectEqual(try await store.credential().state, .notFound)
        },
        ConformanceCheck("makes an account when a user is first seen") { store in
            let outcome = try await store.signIn(
                .sample(authorizedAt: 5000, realUserStatus: 2, firstName: "Ada", receivedAt: 6000))
            try expect(outcome.isNewAccount, "the account is new")
            let account = outcome.account
            try expectEqual(account.team, "A1B2C3D4E5")
            try expectEqual(account.subject, SubjectKey.sample().subject)
            try expectEqual(account.email, "user@example.com")
            try expectEqual(account.isEmailVerified, true)
            try expectEqual(account.isPrivateEmail, false)
            try expectEqual(account.emailForwarding, .unknown)
            try expectEqual(account.profile.firstName, "Ada")
            try expectEqual(account.profile.lastName, nil)
            try expectEqual(account.realUserStatus, 2)
            try expectEqual(account.createdAt, 6000)
            try expectEqual(account.lastSignInAt, 6000)
            // The credential alone has no time of a sign-in.
            try expectEqual(account.credentials.map(\.lastSignInAt), [6000])
            try expectEqual(account.credentials.map(\.clientID), [outcome.credential.clientID])
            try expectEqual(account.credentials.map(\.state), [outcome.credential.state])
            try expectEqual(account.credentials.map(\.since), [outcome.credential.since])
            try expectEqual(outcome.credential.clientID, "com.example.app")
            try expectEqual(outcome.credential.state, .authorized)
            try expectEqual(outcome.credential.since, 5000)
        },
        ConformanceCheck("finds an account by its ID and by its user") { store in
            let outcome = try await store.signIn(.sample())
            try await store.signIn(.sample(key: .sample("another")))
            try expectEqual(try await store.account(outcome.account.id), outcome.account)
            try expectEqual(try await store.account(.sample()), outcome.account)
        },
        ConformanceCheck("keeps the account at later sign-ins") { store in
            let first = try await store.signIn(.sample(authorizedAt: 5000, receivedAt: 5001))
            let second = try await store.signIn(.sample(authorizedAt: 9000, receivedAt: 9001))
            try expect(!second.isNewAccount, "the account is known")
            try expectEqual(second.account.id, first.account.id)
            try expectEqual(second.account.createdAt, 5001)
            try expectEqual(second.account.lastSignInAt, 9001)
            try expectEqual(second.credential.since, 9000)
            try expectEqual(try await store.account(.sample()), second.account)
        },
        ConformanceCheck("never moves the last sign-in back") { store in
            try await store.signIn(.sample(authorizedAt: 9000, receivedAt: 9500))
            let outcome = try await store.signIn(.sample(authorizedAt: 8000, receivedAt: 9400))
            try expectEqual(outcome.account.lastSignInAt, 9500)
            try expectEqual(outcome.credential.since, 9000)
            try expectEqual(try await store.account(.sample())?.lastSignInAt, 9500)
        },
        ConformanceCheck("keeps the users of two teams apart") { store in
            let one = try await store.signIn(.sample())
            let other = try await store.signIn(
                .sample(key: .sample(team: "OTHERTEAM1"), clientID: "org.example.app"))
            try expect(other.isNewAccount, "the other team has an account of its own")
            try expect(one.account.id != other.account.id, "the accounts differ")
            try expectEqual(try await store.account(.sample(team: "OTHERTEAM1")), other.account)
        },
        ConformanceCheck("keeps one account for all apps of a team") { store in
            let one = try await store.signIn(.sample(receivedAt: 1_002_000))
            let other = try await store.signIn(
                .sample(clientID: "com.example.other", receivedAt: 1_001_000))
            try expect(!other.isNewAccount, "the account is known")
            try expectEqual(other.account.id, one.account.id)
            try expectEqual(
                other.account.credentials.map(\.clientID), ["com.example.app", "com.example.other"])
            try expectEqual(other.account.lastSignInAt, 1_002_000)
            try expectEqual(try await store.account(one.account.id), other.account)
        },
        ConformanceCheck("makes no account unless it is asked to") { store in
            try await expectRefusal(.accountNotFound) {
                try await store.signIn(.sample(createsAccount: false))
            }
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.credential().state, .notFound)
            try expectEqual(try await store.allEvents(), [])
            try await store.signIn(.sample())
            let outcome = try await store.signIn(.sample(createsAccount: false))
            try expect(!outcome.isNewAccount, "a known user needs no new account")
        },
        ConformanceCheck("compares names by their bytes") { store in
            let composed = try await store.signIn(.sample(key: .sample("caf\u{E9}")))
            let decomposed = try await store.signIn(.sample(key: .sample("cafe\u{301}")))
            let upper = try await store.signIn(.sample(key: .sample("CAF\u{C9}")))
            let padded = try await store.signIn(.sample(key: .sample("caf\u{E9} ")))
            let ids = [composed, decomposed, upper, padded].map(\.account.id)
            try expectEqual(Set(ids).count, 4)
            try expectEqual(try await store.account(.sample("cafe\u{301}"))?.id, ids[1])
        },
        ConformanceCheck("keeps every text as it is") { store in
            let longest = String(repeating: "\u{1F600}", count: 255)
            for text in ["'; DROP TABLE subject; --", "\"%_\\", "a\u{200B}b", "\u{FEFF}x", longest] {
                let subject = try unwrap(AppleSubject(text))
                let outcome = try await store.signIn(
                    .sample(
                        key: .sample(subject), email: .sample(String(text.prefix(200))), firstName: text,
                        lastName: "\u{2028}"))
                let account = try unwrap(try await store.account(outcome.account.id))
                try expectEqual(account.subject, subject)
                try expect(
                    account.profile.firstName?.utf8.elementsEqual(text.utf8) == true, "the name is the same")
                try expectEqual(account.profile.lastName, "\u{2028}")
                try expectEqual(account, outcome.account)
            }
        },
        ConformanceCheck("keeps the ends of time") { store in
            try await store.signIn(.sample(authorizedAt: 0, receivedAt: 0))
            try expectEqual(try await store.account(.sample())?.lastSignInAt, 0)
            try expectEqual(try await store.credential().since, 0)
            let outcome = try await store.signIn(.sample(authorizedAt: .last, receivedAt: .last))
            try expectEqual(try await store.account(.sample()), outcome.account)
            try expectEqual(try await store.credential().since, .last)
        },
    ]
}

extension ConformanceCheck {
    static let profiles = [
        ConformanceCheck("fills in a name that is missing and overwrites none") { store in
            try await store.signIn(.sample(firstName: "", lastName: "Lovelace"))
            try await store.signIn(.sample(firstName: "Ada", lastName: ""))
            try await store.signIn(.sample(firstName: "Grace", lastName: "Hopper"))
            try await store.signIn(.sample())
            let account = try unwrap(try await store.account(.sample()))
            try expectEqual(account.profile.firstName, "Ada")
            try expectEqual(account.profile.lastName, "Lovelace")
        },
        ConformanceCheck("shows an unsigned address as unverified until Apple signs one") { store in
            let first = try await store.signIn(.sample(email: nil, unsignedEmail: "posted@example.com"))
            try expectEqual(first.account.email, "posted@example.com")
            try expectEqual(first.account.isEmailVerified, false)
            try expectEqual(first.account.isPrivateEmail, nil)
            try expectEqual(try await store.account(.sample()), first.account)
            let other = try await store.signIn(.sample(email: nil, unsignedEmail: "other@example.com"))
            try expectEqual(other.account.email, "posted@example.com")
            let signed = try await store.signIn(.sample(unsignedEmail: "other@example.com"))
            try expectEqual(signed.account.email, "user@example.com")
            try expectEqual(signed.account.isEmailVerified, true)
            try expectEqual(try await store.account(.sample()), signed.account)
        },
        ConformanceCheck("never takes an unsigned address over a signed one") { store in
            try await store.signIn(.sample(email: .sample(isVerified: false)))
            let outcome = try await store.signIn(.sample(email: nil, unsignedEmail: "posted@example.com"))
            try expectEqual(outcome.account.email, "user@example.com")
            try expectEqual(outcome.account.isEmailVerified, false)
        },
        ConformanceCheck("keeps the address when a token has none") { store in
            try await store.signIn(.sample(authorizedAt: 1000))
            let outcome = try await store.signIn(.sample(authorizedAt: 2000, email: nil))
            try expectEqual(outcome.account.email, "user@example.com")
        },
        ConformanceCheck("keeps relay addresses with their flag") { store in
            let relay = EmailAddress.sample("abc@privaterelay.appleid.com", isPrivate: true)
            let outcome = try await store.signIn(.sample(email: relay))
            try expectEqual(outcome.account.email, "abc@privaterelay.appleid.com")
            try expectEqual(outcome.account.isPrivateEmail, true)
            try expectEqual(try await store.account(.sample()), outcome.account)
        },
        ConformanceCheck("keeps an address of which nothing is known apart from one that is no relay") {
            store in
            for (second, isPrivate) in [nil, false, true, false, nil, true, nil].enumerated() {
                let outcome = try await store.signIn(
                    .sample(
                        authorizedAt: Moment(seconds: Int64(second)), email: .sample(isPrivate: isPrivate)))
                try expectEqual(outcome.account.isPrivateEmail, isPrivate)
                try expectEqual(try await store.account(.sample())?.isPrivateEmail, isPrivate)
                try expectEqual(try await store.account(outcome.account.id), outcome.account)
            }
        },
        ConformanceCheck("follows the address of the latest moment") { store in
            try await store.signIn(.sample(authorizedAt: 5000, email: .sample("new@example.com")))
            try await store.signIn(.sample(authorizedAt: 3000, email: .sample("old@example.com")))
            try expectEqual(try await store.account(.sample())?.email, "new@example.com")
            try await store.signIn(.sample(authorizedAt: 7000, email: .sample("newest@example.com")))
            try expectEqual(try await store.account(.sample())?.email, "newest@example.com")
        },
        ConformanceCheck("remembers when an address was last confirmed") { store in
            try await store.signIn(.sample(authorizedAt: 1000, email: .sample("kept@example.com")))
            try await store.signIn(.sample(authorizedAt: 9000, email: .sample("kept@example.com")))
            // Late: it is of a moment between the two.
            try await store.signIn(
                .sample(clientID: "com.example.other", authorizedAt: 5000, email: .sample("late@example.com"))
            )
            try expectEqual(try await store.account(.sample())?.email, "kept@example.com")
            try await store.notify(
                .sample(.emailForwarding(.disabled, .sample("late@example.com", isPrivate: true)), at: 8000))
            try expectEqual(try await store.account(.sample())?.email, "kept@example.com")
            try expectEqual(try await store.account(.sample())?.emailForwarding, .disabled)
        },
        ConformanceCheck("keeps the highest real-user status") { store in
            for status in [1, 2, 0, nil] as [Int64?] {
                try await store.signIn(.sample(realUserStatus: status))
            }
            try expectEqual(try await store.account(.sample())?.realUserStatus, 2)
        },
    ]
}

extension ConformanceCheck {
    static let batches = [
        ConformanceCheck("takes an empty batch") { store in
            try expectEqual(try await store.commit([]), CommitResult(results: [], lastEventSequence: nil))
        },
        ConformanceCheck("lets a refused command fail alone") { store in
            let result = try await store.commit([
                .signIn(.sample(key: .sample("one"))),
                .signIn(.sample(key: .sample("two"), createsAccount: false)),
                .signIn(.sample(key: .sample("three"))),
            ])
            try expectEqual(result.results.count, 3)
            try expectEqual(result.results[1], .refused(AccountRefusal(.accountNotFound)))
            try expect(try await store.account(.sample("one")) != nil, "the first is there")
            try expectEqual(try await store.account(.sample("two")), nil)
            try expect(try await store.account(.sample("three")) != nil, "the third is there")
        },
        ConformanceCheck("lets later commands see what earlier ones did") { store in
            let result = try await store.commit([
                .signIn(.sample(authorizedAt: 5000)), .notification(.sample(at: 6000)),
                .signIn(.sample(authorizedAt: 5500)), .signIn(.sample(authorizedAt: 7000)),
            ])
            guard case .done(.signedIn(let first)) = result.results[0],
                case .done(.signedIn(let last)) = result.results[3]
            else { throw ConformanceFailure(description: "found \(result.results)") }
            try expect(first.isNewAccount && !last.isNewAccount, "one account is made")
            try expectEqual(result.results[2], .refused(AccountRefusal(.credentialRevoked)))
            try expectEqual(try await store.account(.sample()), last.account)
            try expectEqual(
                try await store.eventKinds(),
                [.accountCreated, .credentialAuthorized, .credentialRevoked, .credentialAuthorized])
        },
        ConformanceCheck("keeps what eight writers write at once") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        for number in 0..<20 {
                            // Half of them meet at the same users.
                            let name = number % 2 == 0 ? "shared-\(number)" : "own-\(writer)-\(number)"
                            let key = SubjectKey.sample(.init(stringLiteral: name))
                            try await store.signIn(.sample(key: key))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let events = try await store.allEvents()
            let created = events.filter { $0.kind == .accountCreated }
            try expectEqual(created.count, 10 + 8 * 10)
            try expectEqual(Set(created.map(\.subject)).count, created.count)
            try expectEqual(Set(created.compactMap(\.accountID)).count, created.count)
            try expectEqual(Set(events.map(\.sequence)).count, events.count)
        },
        ConformanceCheck("does as the reference does, whatever comes") { store in
            let reference = ReferenceStore()
            var commands = RandomCommands(seed: 20_261_121)
            for _ in 0..<400 {
                let batch = commands.batch()
                let found = try await store.commit(batch).results.map(\.withoutIDs)
                try expectEqual(found, try await reference.commit(batch).results.map(\.withoutIDs))
            }
            for key in commands.keys {
                try expectEqual(
                    try await store.account(key)?.withoutIDs, try await reference.account(key)?.withoutIDs)
                for clientID in commands.clientIDs {
                    try expectEqual(
                        try await store.credential(key, clientID),
                        try await reference.credential(key, clientID))
                }
            }
            try expectEqual(
                try await store.allEvents().map(\.withoutIDs),
                try await reference.allEvents().map(\.withoutIDs))
        },
    ]
}
