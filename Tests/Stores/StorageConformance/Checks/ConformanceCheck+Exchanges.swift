import AppleAccounts

extension ConformanceCheck {
    static let exchanges = [
        ConformanceCheck("holds the token that an exchange brought") { store in
            let account = try await store.hold(1, authorizedAt: 1_000_000, nextCheckAt: 7000)
            try expectEqual(try await store.refreshToken(), .held)
            try expectEqual(try await store.nextDue(), AppleTokensDue(check: 7000))
            try expectEqual(try await store.backlog(at: 6999), AppleTokensBacklog())
            try expectEqual(
                try await store.backlog(at: 7000),
                AppleTokensBacklog(checks: AppleTokensBacklog.Queue(count: 1, since: 7000)))
            let rows = try await store.sealedSecrets(after: nil, limit: 9)
            try expectEqual(rows.map(\.purpose), [.refreshToken])
            try expectEqual(rows.map(\.accountID), [account.id])
            try expectEqual(rows.map(\.sealed), [.sample("token 1")])
        },
        ConformanceCheck("says why an exchange brought nothing") { store in
            for (number, cause) in zip((1 as UInt64)..., RefreshTokenCause.allCases) {
                let key = SubjectKey.sample("p\(number)")
                let code = AuthorizationCodeOffer.sample(number)
                let account = try await store.signIn(.sample(key: key, authorizationCode: code)).account
                let receipt = try await store.exchange(
                    .sample(code: number, account: account, token: nil, cause: cause))
                try expectEqual(receipt, .unavailable)
                try expectEqual(try await store.refreshToken(key), .unavailable(cause))
            }
            try expectEqual(try await store.sealedCount(), 0)
        },
        ConformanceCheck("holds the token of the newest authorization in whatever order they come") { store in
            for (index, order) in [[1, 2, 3], [3, 2, 1], [2, 3, 1]].enumerated() {
                let key = SubjectKey.sample("p\(index)")
                let base = UInt64(index) * 10
                for step in 1...3 as ClosedRange<UInt64> {
                    try await store.signIn(
                        .sample(
                            key: key, authorizedAt: Moment(milliseconds: Int64(step) * 1000),
                            authorizationCode: .sample(base + step)))
                }
                let account = try unwrap(try await store.account(key))
                for step in order {
                    try await store.exchange(
                        .sample(
                            code: base + UInt64(step), account: account, token: base + UInt64(step),
                            authorizedAt: Moment(milliseconds: Int64(step) * 1000)))
                }
                try expectEqual(try await store.refreshToken(key), .held)
            }
            try expectEqual(try await store.heldTokens(), [.sample(3), .sample(13), .sample(23)])
            try expectEqual(try await store.waitingCodes(), [])
        },
        ConformanceCheck("stays held while a newer code waits, and when that brings nothing") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.signIn(.sample(authorizedAt: 2000, authorizationCode: .sample(2)))
            try expectEqual(try await store.refreshToken(), .held)
            try await store.exchange(.sample(code: 2, account: account, token: nil))
            try expectEqual(try await store.refreshToken(), .held)
            try expectEqual(try await store.heldTokens(), [.sample(1)])
        },
        ConformanceCheck("takes a repeated end of an exchange once") { store in
            let account = try await store.hold(1)
            try expectEqual(try await store.exchange(.sample(account: account)), .superseded)
            // Told again after a lost response, with the other end: what is held counts.
            try await store.exchange(.sample(account: account, token: nil, cause: .exchangeUncertain))
            try expectEqual(try await store.refreshToken(), .held)
        },
        ConformanceCheck("holds one token for each client ID of an app") { store in
            try await store.hold(1, authorizedAt: 1000)
            try await store.hold(2, issuedTo: "com.example.web", authorizedAt: 2000)
            try await store.hold(3, clientID: "com.example.other", authorizedAt: 2000)
            try expectEqual(try await store.heldTokens(), [.sample(1), .sample(2), .sample(3)])
        },
        ConformanceCheck("drops codes and tokens that a revocation ends, and no newer ones") { store in
            let account = try await store.hold(1, authorizedAt: 1000)
            try await store.hold(2, issuedTo: "com.example.web", authorizedAt: 9000)
            try await store.signIn(.sample(authorizedAt: 2000, authorizationCode: .sample(3)))
            try await store.signIn(.sample(authorizedAt: 9000, authorizationCode: .sample(4)))
            try await store.hold(5, clientID: "com.example.other", authorizedAt: 1000)
            try await store.notify(.sample(at: 5000))
            try expectEqual(try await store.heldTokens(), [.sample(2), .sample(5)])
            try expectEqual(try await store.waitingCodes(), [.sample(4)])
            try expectEqual(try await store.refreshToken(), .held)
            // In flight when the revocation came.
            let late = ExchangeCommand.sample(code: 3, account: account, token: 3, authorizedAt: 2000)
            try expectEqual(try await store.exchange(late), .dropped)
            try await store.notify(.sample(at: 9000))
            try expectEqual(try await store.heldTokens(), [.sample(5)])
            try expectEqual(try await store.waitingCodes(), [])
            try expectEqual(try await store.refreshToken(), .unavailable(.credentialRevoked))
        },
        ConformanceCheck("drops the tokens of all apps when the Apple Account is deleted") { store in
            try await store.hold(1, authorizedAt: 1000)
            try await store.hold(2, clientID: "com.example.other", authorizedAt: 1000)
            try await store.notify(.sample(.appleAccountDeleted, at: 5000))
            try expectEqual(try await store.sealedCount(), 0)
            for clientID in ["com.example.app", "com.example.other"] as [ClientID] {
                try expectEqual(
                    try await store.refreshToken(.sample(), clientID), .unavailable(.credentialRevoked))
            }
        },
        ConformanceCheck("drops a token whose exchange ends after the revocation") { store in
            let account = try await store.signIn(
                .sample(authorizedAt: 1000, authorizationCode: .sample())
            ).account
            try await store.notify(.sample(at: 5000))
            try expectEqual(try await store.refreshToken(), .unavailable(.credentialRevoked))
            let late = ExchangeCommand.sample(account: account, authorizedAt: 1000)
            try expectEqual(try await store.exchange(late), .dropped)
            try expectEqual(try await store.sealedCount(), 0)
            try expectEqual(try await store.refreshToken(), .unavailable(.credentialRevoked))
        },
        ConformanceCheck("does all of it within one batch too") { store in
            let result = try await store.commit([
                .signIn(.sample(authorizedAt: 1000, authorizationCode: .sample(1))),
                .notification(.sample(at: 5000)),
                .signIn(.sample(authorizedAt: 6000, authorizationCode: .sample(2))),
            ])
            guard case .done(.signedIn(let last)) = result.results[2] else {
                throw ConformanceFailure(description: "found \(result.results)")
            }
            try expectEqual(last.credential.refreshToken, .pending)
            try expectEqual(try await store.waitingCodes(), [.sample(2)])
            _ = try await store.commit([
                .finishExchange(.sample(code: 2, account: last.account, token: 2, authorizedAt: 6000)),
                .notification(.sample(at: 7000)),
            ])
            try expectEqual(try await store.sealedCount(), 0)
            try expectEqual(try await store.refreshToken(), .unavailable(.credentialRevoked))
        },
        ConformanceCheck("refuses the end of an exchange for an account that is not there") { store in
            let account = try await store.hold(1)
            let stranger = Account(
                id: AccountID(.sample(99)), team: account.team, subject: account.subject, createdAt: 1)
            try await expectRefusal(.accountNotFound) { try await store.exchange(.sample(account: stranger)) }
            let unknown = Account(
                id: account.id, team: account.team, subject: "somebody-else", createdAt: 1)
            try await expectRefusal(.accountNotFound) { try await store.exchange(.sample(account: unknown)) }
            try await expectRefusal(.accountNotFound) { try await store.reject(.sample(account: unknown)) }
            try expectEqual(try await store.heldTokens(), [.sample(1)])
        },
    ]
}

extension ConformanceCheck {
    static let codes = [
        ConformanceCheck("keeps a code in the transaction of its sign-in, sealed for its account") { store in
            let offer = AuthorizationCodeOffer.sample(
                3, clientID: "com.example.web", redirectURI: "https://example.com/back", expiresAt: 1_300_000)
            let outcome = try await store.signIn(
                .sample(authorizedAt: 1_000_000, authorizationCode: offer, receivedAt: 1_001_000))
            try expectEqual(outcome.credential.refreshToken, .pending)
            try expectEqual(try await store.refreshToken(), .pending)
            let claimed = try await store.claimCodes(limit: 9, at: 1_001_000, leaseUntil: 1_031_000)
            let expected = AuthorizationCodeRecord(
                id: .sample(3), accountID: outcome.account.id, clientID: "com.example.web",
                primaryClientID: "com.example.app", redirectURI: "https://example.com/back",
                sealed: .sample("code 3 of \(outcome.account.id.rawValue)"), authorizedAt: 1_000_000,
                receivedAt: 1_001_000, expiresAt: 1_300_000, attempts: 1, nextAttemptAt: 1_031_000,
                isClaimed: true)
            try expectEqual(
                claimed, [ClaimedCode(record: expected, key: .sample(), isInterrupted: false)])
        },
        ConformanceCheck("seals each code of a batch for its own account") { store in
            let results = try await store.commit(
                (1...20).map { number in
                    .signIn(.sample(key: .sample("p\(number)"), authorizationCode: .sample(number)))
                }
            ).results
            let accounts = results.compactMap(\.signedIn?.account.id)
            try expectEqual(Set(accounts).count, 20)
            let rows = try await store.sealedSecrets(after: nil, limit: 100)
            try expectEqual(rows.map(\.accountID), accounts)
            try expectEqual(
                rows.map(\.sealed),
                accounts.enumerated().map { .sample("code \($0.offset + 1) of \($0.element.rawValue)") })
        },
        ConformanceCheck("keeps no code of a sign-in that is refused") { store in
            try await store.notify(.sample(at: 2_000_000))
            try await expectRefusal(.credentialRevoked) {
                try await store.signIn(.sample(authorizationCode: .sample()))
            }
            try expectEqual(try await store.sealedCount(), 0)
            try expectEqual(try await store.nextDue(), AppleTokensDue())
        },
        ConformanceCheck("says nothing of refresh tokens where no code ever came") { store in
            try await store.signIn(.sample())
            try expectEqual(try await store.refreshToken(), nil)
            try expectEqual(try await store.refreshToken(.sample("unknown")), nil)
        },
        ConformanceCheck("says why a code could not be kept unless there is something better") { store in
            try await store.signIn(.sample(refreshTokenCause: .noSealingKey))
            try expectEqual(try await store.refreshToken(), .unavailable(.noSealingKey))
            try await store.signIn(.sample(refreshTokenCause: .noSigningKey))
            try expectEqual(try await store.refreshToken(), .unavailable(.noSigningKey))
            try await store.signIn(.sample())
            try expectEqual(try await store.refreshToken(), .unavailable(.noSigningKey))
            let account = try await store.signIn(.sample(authorizationCode: .sample())).account
            try await store.signIn(.sample(refreshTokenCause: .noSealingKey))
            try expectEqual(try await store.refreshToken(), .pending)
            try await store.exchange(.sample(account: account))
            try await store.signIn(.sample(refreshTokenCause: .noSealingKey))
            try expectEqual(try await store.refreshToken(), .held)
        },
        ConformanceCheck("takes a repeated sign-in's code once") { store in
            let command = SignInCommand.sample(authorizationCode: .sample(1))
            try await store.signIn(command)
            _ = try await store.commit([.signIn(command), .signIn(command)])
            try expectEqual(try await store.waitingCodes(), [.sample(1)])
        },
        ConformanceCheck("gives a code to one claimer until the claim ends") { store in
            try await store.signIn(.sample(authorizationCode: .sample(1), receivedAt: 1000))
            try expectEqual(try await store.claimCodes(limit: 9, at: 999, leaseUntil: 5000).count, 0)
            try expectEqual(try await store.nextDue().code, 1000)
            let first = try await store.claimCodes(limit: 9, at: 1000, leaseUntil: 5000)
            try expectEqual(first.map(\.isInterrupted), [false])
            try expectEqual(try await store.claimCodes(limit: 9, at: 4999, leaseUntil: 9000).count, 0)
            try expectEqual(try await store.nextDue().code, 5000)
            // The first claimer never came back, so it is not known whether Apple was asked.
            let second = try await store.claimCodes(limit: 9, at: 5000, leaseUntil: 9000)
            try expectEqual(second.map(\.isInterrupted), [true])
            try expectEqual(second.map(\.record.attempts), [2])
            try await store.releaseCode(.sample(1), until: 6000)
            try expectEqual(try await store.claimCodes(limit: 9, at: 5999, leaseUntil: 9000).count, 0)
            let third = try await store.claimCodes(limit: 9, at: 6000, leaseUntil: 9000)
            try expectEqual(third.map(\.isInterrupted), [false])
        },
        ConformanceCheck("claims the codes that wait longest and no more than asked for") { store in
            for number in [4, 2, 3, 1] as [UInt64] {
                try await store.signIn(
                    .sample(
                        key: .sample("p\(number)"), authorizationCode: .sample(number),
                        receivedAt: Moment(milliseconds: Int64(number) * 1000)))
            }
            let first = try await store.claimCodes(limit: 2, at: 9000, leaseUntil: 20_000)
            try expectEqual(first.map(\.record.id), [.sample(1), .sample(2)])
            let second = try await store.claimCodes(limit: 9, at: 9000, leaseUntil: 20_000)
            try expectEqual(second.map(\.record.id), [.sample(3), .sample(4)])
            try expectEqual(try await store.claimCodes(limit: 0, at: .last, leaseUntil: .last), [])
        },
        ConformanceCheck("gives each code to one of eight claimers at once") { store in
            _ = try await store.commit(
                (1...60).map { number in
                    .signIn(.sample(key: .sample("p\(number)"), authorizationCode: .sample(number)))
                })
            let claimed = try await withThrowingTaskGroup(of: [UniqueID].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var mine: [UniqueID] = []
                        for _ in 0..<4 {
                            let claims = try await store.claimCodes(
                                limit: 5, at: 2_000_000, leaseUntil: 3_000_000)
                            mine += claims.map(\.record.id)
                        }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expectEqual(claimed.sorted(), (1...60).map { .sample($0) })
        },
    ]

    static let unsealed = ConformanceCheck("refuses a code alone, and keeps nothing of its sign-in") {
        store in
        let results = try await store.commit([
            .signIn(.sample(key: .sample("a"))),
            .signIn(.sample(key: .sample("b"), authorizationCode: .sample())),
            .signIn(.sample(key: .sample("c"))),
        ]).results
        try expectEqual(results.map { $0.signedIn?.isNewAccount }, [true, nil, true])
        guard case .failed(let error) = results[1] else {
            throw ConformanceFailure(description: "found \(results[1])")
        }
        try expectEqual(error.code, .valueRefused)
        try expectEqual(try await store.account(.sample("b")), nil)
        try expectEqual(try await store.sealedCount(), 0)
        // Nothing is in the way of the next one.
        try await store.signIn(.sample(key: .sample("b")))
    }
}

extension CommandResult {
    fileprivate var signedIn: SignInOutcome? {
        if case .done(.signedIn(let outcome)) = self { outcome } else { nil }
    }
}
