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
