import AppleAccounts
import PostgresStorage
import StorageConformance
import Testing

/// Actions of a replica while another replica erases the account.
@Suite struct ErasureRaceTests {
    static let rounds = 40

    /// Runs both at the same time, in varying order.
    @discardableResult
    private func race<First: Sendable, Second: Sendable>(
        _ first: @escaping @Sendable () async throws -> First,
        _ second: @escaping @Sendable () async throws -> Second
    ) async throws -> (First, Second) {
        async let one = first()
        async let other = second()
        return try await (one, other)
    }

    @Test func `an old token never brings an account back while it is erased`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            for round in 1...Self.rounds {
                let key = SubjectKey.sample("user-\(round)")
                let account = try await here.signIn(.sample(key: key, authorizedAt: 1000)).account
                try await race(
                    { try await here.erase(.sample(UInt64(round), account: account, at: 9000)) },
                    {
                        do {
                            try await there.signIn(.sample(key: key, authorizedAt: 2000, receivedAt: 8000))
                        } catch let refusal as AccountRefusal {
                            #expect(refusal.code == .credentialRevoked)
                        }
                    })
                #expect(try await there.account(key) == nil)
                let credential = try await there.credentials(
                    team: key.team, clientID: "com.example.app", subjects: [key.subject])
                #expect(credential.map(\.state) == [.revoked])
                #expect(credential.map(\.reason) == [.erased])
            }
        }
    }

    @Test func `a code goes to the exchange or to the erasure, and never to both`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            for round in 1...UInt64(Self.rounds) {
                let account = try await here.signIn(
                    .sample(key: .sample("user-\(round)"), authorizationCode: .sample(round))
                ).account
                let (_, claimed) = try await race(
                    { try await here.erase(.sample(round, account: account, at: 1_010_000)) },
                    {
                        try await there.claimCodes(limit: 1, at: 1_010_000, leaseUntil: 1_200_000)
                    })
                let record = try #require(try await here.erasure(ErasureID(.sample(round))))
                #expect(record.tokens.map(\.isClaimed) == [!claimed.isEmpty])
                #expect(try await here.claimCodes(limit: 1, at: 9_000_000, leaseUntil: .last).isEmpty)
            }
        }
    }

    @Test func `an erasure is finished whichever replica does the last of its tokens`() async throws {
        try await Replicas.with { replicas in
            for round in 1...UInt64(Self.rounds) {
                let key = SubjectKey.sample("user-\(round)")
                try await replicas.stores[0].hold(2 * round, key: key)
                let account = try await replicas.stores[0].hold(
                    2 * round + 1, key: key, issuedTo: "com.example.web", authorizedAt: 2_000_000)
                let id = try await replicas.stores[0].erase(.sample(round, account: account)).id
                let tokens = try await replicas.stores[0].claimErasureTokens(
                    limit: 9, at: 5_000_000, leaseUntil: 6_000_000, of: id)
                #expect(tokens.count == 2)
                @Sendable func finish(_ number: Int) async throws {
                    var token = tokens[number].token
                    token.step = .done(.provenRevoked)
                    try await replicas.stores[number].save(token, of: id, at: 5_500_000)
                }
                try await race({ try await finish(0) }, { try await finish(1) })
                #expect(try await replicas.stores[0].erasure(id)?.finishedAt == 5_500_000)
            }
        }
    }

    @Test func `no transfer of an erased account stays behind`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            for round in 1...UInt64(Self.rounds) {
                let key = SubjectKey.sample("user-\(round)")
                let account = try await here.signIn(.sample(key: key)).account
                let transfer = TransferRecord(
                    recipientTeam: "OTHERTEAM1", transferSubject: "transfer-\(round)", accountID: account.id,
                    from: key, createdAt: 1, expiresAt: 1000)
                try await race(
                    { try await here.erase(.sample(round, account: account)) },
                    { try await there.importTransfers([transfer]) })
                #expect(try await here.purgeTransfers(expiredBefore: .last) == 0)
            }
        }
    }
}
