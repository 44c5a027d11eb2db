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
