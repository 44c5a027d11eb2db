import AppleAccounts

extension ConformanceCheck {
    private static let to = SubjectKey.sample(team: "OTHERTEAM1", "new-name")
    private static let relay = EmailAddress.sample("new@privaterelay.appleid.com", isPrivate: true)

    static let transfers = [
        ConformanceCheck("gives an account another name and keeps its ID") { store in
            try await store.hold(1, authorizedAt: 1000)
            let old = try await store.signIn(.sample(authorizedAt: 2000, firstName: "Ada")).account
            try expectEqual(try await store.transfer(command(old, email: relay)), .moved)
            let new = try unwrap(try await store.account(to))
            try expectEqual(new.id, old.id)
            try expectEqual(new.team, to.team)
            try expectEqual(new.createdAt, old.createdAt)
            try expectEqual(new.profile.firstName, "Ada")
            try expectEqual(new.email, relay.address)
            try expectEqual(new.isPrivateEmail, true)
            try expectEqual(new.lastSignInAt, old.lastSignInAt)
            try expectEqual(new.credentials.map(\.state), [.authorized])
            try expectEqual(new.credentials.map(\.refreshToken), [.unavailable(.transferred)])
            try expectEqual(try await store.account(old.id), new)
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.credential().state, .notFound)
            try expectEqual(try await store.credential(to, "com.example.app").state, .authorized)
            try expectEqual(try await store.sealedCount(), 0)
            let events = try await store.allEvents()
            try expectEqual(events.last?.kind, .accountTransferred)
            try expectEqual(events.map(\.accountID), Array(repeating: old.id, count: events.count))
            try expectEqual(events.map(\.key), Array(repeating: to, count: events.count))
        },
        ConformanceCheck("does a transfer once") { store in
            let old = try await store.signIn(.sample()).account
            try await store.transfer(command(old, email: relay))
            let (account, events) = (try await store.account(to), try await store.allEvents())
            try expectEqual(try await store.transfer(command(old, email: nil)), .alreadyDone)
            try expectEqual(try await store.account(to), account)
            try expectEqual(try await store.allEvents(), events)
        },
        ConformanceCheck("makes an account that comes from another database") { store in
            let foreign = Account(
                id: AccountID(.sample(77)), team: "A1B2C3D4E5", subject: "old-name", createdAt: 123)
            try expectEqual(try await store.transfer(command(foreign, email: relay)), .made)
            let account = try unwrap(try await store.account(foreign.id))
            try expectEqual(account.createdAt, 123)
            try expectEqual(account.subject, to.subject)
            try expectEqual(account.email, relay.address)
            try expectEqual(try await store.eventKinds(), [.accountTransferred])
            let outcome = try await store.signIn(.sample(key: to, email: relay))
            try expect(!outcome.isNewAccount, "the account is known")
            try expectEqual(outcome.account.id, foreign.id)
        },
        ConformanceCheck("does not take another account away") { store in
            let old = try await store.signIn(.sample()).account
            let other = try await store.signIn(.sample(key: to)).account
            try await expectRefusal(.accountExists) { try await store.transfer(command(old, email: nil)) }
            try expectEqual(try await store.account(.sample()), old)
            try expectEqual(try await store.account(to), other)
        },
        ConformanceCheck("moves an account only from the name that the giving team knows") { store in
            let theirs = try await store.signIn(.sample(key: .sample(team: to.team, "theirs"))).account
            let stranger = SubjectKey.sample("stranger")
            try await expectRefusal(.accountExists) {
                try await store.transfer(command(theirs, from: stranger, email: nil))
            }
            try await store.importTransfers([transfer(theirs, "transfer-1")])
            let outcome = try await store.signIn(
                .sample(key: to, authorizedAt: 2_000_000, transferSubject: "transfer-1"))
            try expect(outcome.isNewAccount && outcome.account.id != theirs.id, "it is another account")
            try expectEqual(try await store.account(theirs.id), theirs)
        },
        ConformanceCheck("keeps what Apple has told the new team of a user not known there yet") { store in
            let old = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.notify(.sample(key: to, clientID: "com.example.app", at: 5000))
            try await store.notify(.sample(.emailForwarding(.disabled, relay), key: to, at: 4000))
            let told = try unwrap(try await store.allEvents().last)
            try await store.transfer(command(old, email: nil))
            let account = try unwrap(try await store.account(old.id))
            try expectEqual(account.credentials.map(\.state), [.revoked])
            try expectEqual(account.emailForwarding, .disabled)
            try expectEqual(account.email, relay.address)
            try expect(try await store.allEvents().contains(told), "the event is still about them")
        },
        ConformanceCheck("does not keep the old team's relay address") { store in
            let oldRelay = EmailAddress.sample("old@privaterelay.appleid.com", isPrivate: true)
            let hidden = try await store.signIn(.sample(email: oldRelay)).account
            try await store.transfer(command(hidden, email: nil))
            try expectEqual(try await store.account(to)?.email, nil)
            let open = try await store.signIn(.sample(key: .sample("open"))).account
            let openTo = SubjectKey.sample(team: "OTHERTEAM1", "open-new")
            try await store.transfer(command(open, to: openTo, email: nil))
            try expectEqual(try await store.account(openTo)?.email, "user@example.com")
        },
        ConformanceCheck("finds an account by the transfer identifier of a token") { store in
            let old = try await store.hold(1, authorizedAt: 1_000_000)
            try await store.importTransfers([transfer(old, "transfer-1")])
            let token = SignInCommand.sample(
                key: to, authorizedAt: 2_000_000, email: relay, createsAccount: false,
                authorizationCode: .sample(2), transferSubject: "transfer-1")
            let outcome = try await store.signIn(token)
            try expect(!outcome.isNewAccount, "the account is known")
            try expectEqual(outcome.account.id, old.id)
            try expectEqual(outcome.account.createdAt, old.createdAt)
            try expectEqual(outcome.account.subject, to.subject)
            try expectEqual(outcome.account.email, relay.address)
            try expectEqual(outcome.credential.state, .authorized)
            try expectEqual(try await store.account(to), outcome.account)
            try expectEqual(try await store.account(.sample()), nil)
            try expectEqual(try await store.eventKinds().suffix(1), [.accountTransferred])
            try expectEqual(try await store.waitingCodes(), [.sample(2)])
            // Sealed for the ID that the account keeps.
            try expectEqual(
                try await store.sealedSecrets(after: nil, limit: 9).map(\.sealed),
                [.sample("code 2 of \(old.id.rawValue)")])
            try expectEqual(try await store.heldTokens(), [])
            // The command that says the same comes after it, or again.
            try expectEqual(try await store.transfer(command(old, email: relay)), .alreadyDone)
            try expectEqual(try await store.signIn(token).account.id, old.id)
        },
        ConformanceCheck("finds by a token what the command had moved before") { store in
            let old = try await store.signIn(.sample()).account
            try await store.importTransfers([transfer(old, "transfer-1")])
            try await store.transfer(command(old, email: nil))
            let outcome = try await store.signIn(
                .sample(key: to, authorizedAt: 2_000_000, transferSubject: "transfer-1"))
            try expectEqual(outcome.account.id, old.id)
            try expect(!outcome.isNewAccount, "the account is known")
        },
        ConformanceCheck("makes an account from another database at its first sign-in") { store in
            let foreign = Account(
                id: AccountID(.sample(77)), team: "A1B2C3D4E5", subject: "old-name", createdAt: 123)
            try await store.importTransfers([transfer(foreign, "transfer-1")])
            let outcome = try await store.signIn(.sample(key: to, transferSubject: "transfer-1"))
            try expectEqual(outcome.account.id, foreign.id)
            try expectEqual(outcome.account.createdAt, 123)
            try expect(!outcome.isNewAccount, "it came from elsewhere")
            try expectEqual(
                try await store.eventKinds(), [.accountTransferred, .credentialAuthorized])
        },
        ConformanceCheck("takes no account for an identifier of another team, unknown or expired") { store in
            let old = try await store.signIn(.sample()).account
            try await store.importTransfers([transfer(old, "transfer-1", expiresAt: 2_000_000)])
            for (number, (team, name, receivedAt)) in zip(
                1...,
                [("THIRDTEAM1", "transfer-1", 1_500_000), ("OTHERTEAM1", "transfer-2", 1_500_000)]
                    as [(TeamID, String, Moment)] + [("OTHERTEAM1", "transfer-1", 2_000_000)])
            {
                let key = SubjectKey.sample(team: team, "p\(number)")
                let outcome = try await store.signIn(
                    .sample(key: key, transferSubject: name, receivedAt: receivedAt))
                try expect(outcome.isNewAccount, "it is another account")
                try expect(outcome.account.id != old.id, "with an ID of its own")
            }
            try expectEqual(try await store.account(.sample()), old)
        },
        ConformanceCheck("refuses an old token for an account that a transfer would bring") { store in
            let old = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.notify(.sample(at: 5000))
            try await store.importTransfers([transfer(old, "transfer-1")])
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(key: to, authorizedAt: 5000, transferSubject: "transfer-1"))
            }
            try expectEqual(try await store.account(.sample())?.id, old.id)
            try expectEqual(try await store.account(to), nil)
            try await store.signIn(.sample(key: to, authorizedAt: 5001, transferSubject: "transfer-1"))
            try expectEqual(try await store.account(to)?.id, old.id)
        },
        ConformanceCheck("brings no erased account back by a transfer") { store in
            let old = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.importTransfers([transfer(old, "transfer-1")])
            try await store.erase(.sample(account: old, at: 5000))
            try await expectRefusal(.accountNotFound) { try await store.transfer(command(old, email: nil)) }
            try await store.importTransfers([transfer(old, "transfer-1")])
            let outcome = try await store.signIn(
                .sample(key: to, authorizedAt: 6000, transferSubject: "transfer-1"))
            try expect(outcome.isNewAccount && outcome.account.id != old.id, "it is another account")
        },
        ConformanceCheck("erases a transferred account under its new name") { store in
            let old = try await store.signIn(.sample(authorizedAt: 1000)).account
            try await store.transfer(command(old, email: relay))
            let moved = try await store.hold(3, key: to, authorizedAt: 2000)
            let record = try await store.erase(.sample(account: moved, at: 5000))
            try expectEqual(record.team, to.team)
            try expectEqual(record.tokens.map(\.id), [.sample(3)])
            try expectEqual(try await store.allEvents().compactMap(\.subject), [])
            try expectEqual(try await store.credential(to, "com.example.app").reason, .erased)
        },
        ConformanceCheck("moves an account to a name whose user was erased before") { store in
            let gone = try await store.signIn(.sample(key: to, authorizedAt: 1000)).account
            try await store.erase(.sample(account: gone, at: 5000))
            let old = try await store.signIn(.sample(authorizedAt: 6000)).account
            try expectEqual(try await store.transfer(command(old, email: nil)), .moved)
            try expectEqual(try await store.account(to)?.id, old.id)
            try expectEqual(try await store.credential(to, "com.example.app").state, .authorized)
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(key: to, clientID: "com.example.other", authorizedAt: 5000))
            }
            let events = try await store.allEvents()
            try expectEqual(events.filter { $0.accountID == gone.id }.compactMap(\.subject), [])
            try await store.erase(.sample(2, account: try unwrap(try await store.account(to)), at: 9_000_000))
            try expectEqual(try await store.credential(to, "com.example.app").since, 9_000_000)
        },
        ConformanceCheck("lists the accounts of an app in pages") { store in
            for number in 1...7 { try await store.signIn(.sample(key: .sample("p\(number)"))) }
            try await store.signIn(.sample(key: .sample("other"), clientID: "com.example.other"))
            try await store.signIn(.sample(key: to))
            try await store.notify(.sample(key: .sample("no-account")))
            let gone = try await store.signIn(.sample(key: .sample("gone"))).account
            try await store.erase(.sample(account: gone))
            var found: [TransferableAccount] = []
            for expected in [3, 3, 1, 0] {
                let page = try await store.accounts(
                    team: "A1B2C3D4E5", clientID: "com.example.app", after: found.last?.accountID, limit: 3)
                try expectEqual(page.count, expected)
                found += page
            }
            try expectEqual(found.map(\.subject).sorted(), (1...7).map { "p\($0)" })
            try expectEqual(found.map(\.accountID.uniqueID), found.map(\.accountID.uniqueID).sorted())
            let account = try await store.account(found[0].accountID)
            try expectEqual(account?.createdAt, found[0].createdAt)
            let none = try await store.accounts(
                team: "NEVERSEEN1", clientID: "com.example.app", after: nil, limit: 3)
            try expectEqual(none, [])
        },
        ConformanceCheck("forgets transfers whose time is over") { store in
            let old = try await store.signIn(.sample()).account
            try await store.importTransfers([
                transfer(old, "a", expiresAt: 1000), transfer(old, "b", expiresAt: 2000),
            ])
            try await store.importTransfers([transfer(old, "b", expiresAt: 3000)])
            try expectEqual(try await store.purgeTransfers(expiredBefore: 2500), 1)
            try expectEqual(try await store.purgeTransfers(expiredBefore: 9000), 1)
        },
    ]

    private static func command(
        _ account: Account, from: SubjectKey? = nil, to: SubjectKey = to, email: EmailAddress?
    ) -> TransferCommand {
        TransferCommand(
            accountID: account.id, from: from ?? SubjectKey(team: account.team, subject: account.subject),
            to: to, clientID: "com.example.app", email: email, createdAt: account.createdAt,
            receivedAt: 3_000_000)
    }

    private static func transfer(
        _ account: Account, _ transferSubject: AppleSubject, expiresAt: Moment = .last
    ) -> TransferRecord {
        TransferRecord(
            recipientTeam: to.team, transferSubject: transferSubject, accountID: account.id,
            from: SubjectKey(team: account.team, subject: account.subject), createdAt: account.createdAt,
            expiresAt: expiresAt)
    }
}
