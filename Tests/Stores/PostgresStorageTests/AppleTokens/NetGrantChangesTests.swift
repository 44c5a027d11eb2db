import AppleAccounts
import SQLTables
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// Checks that deleting all rows first and inserting afterwards has the same result as the changes in their
/// order.
@Suite struct NetGrantChangesTests {
    private static let first = AccountID(.sample(1))
    private static let second = AccountID(.sample(2))

    private static func code(_ number: UInt64, of account: AccountID = first) -> NewAuthorizationCode {
        NewAuthorizationCode(
            .sample(number, expiresAt: 2), accountID: account, primaryClientID: "com.example.app",
            authorizedAt: 1, nextAttemptAt: 1)
    }

    private static func token(
        _ number: UInt64, of account: AccountID = first, _ client: ClientID = "com.example.app"
    ) -> RefreshTokenRecord {
        RefreshTokenRecord(
            id: .sample(number), accountID: account, clientID: client, primaryClientID: "com.example.app",
            sealed: .sample("token \(number)"), authorizedAt: 1, nextCheckAt: 1)
    }

    /// The tables after the changes: a later rule replaces an earlier one, and no change is lost.
    private struct Tables: Equatable {
        var codes: [UniqueID: NewAuthorizationCode] = [:]
        var tokens: [[UInt64]: RefreshTokenRecord] = [:]

        static func name(_ account: AccountID, _ client: ClientID) -> [UInt64] {
            [account.uniqueID.low] + client.rawValue.utf8.map { UInt64($0) }
        }

        mutating func carryOut(_ changes: [AppleTokenChange]) {
            for change in changes {
                switch change {
                case .insertCode(let code): if codes[code.id] == nil { codes[code.id] = code }
                case .removeCode(let id): codes[id] = nil
                case .putToken(let token): tokens[Self.name(token.accountID, token.clientID)] = token
                case .removeToken(let account, let client): tokens[Self.name(account, client)] = nil
                case .removeAll(let account):
                    codes = codes.filter { $0.value.accountID != account }
                    tokens = tokens.filter { $0.value.accountID != account }
                }
            }
        }

        mutating func carryOut(_ net: NetAppleTokenChanges) {
            codes = codes.filter { !net.emptiedAccounts.contains($0.value.accountID) }
            tokens = tokens.filter { !net.emptiedAccounts.contains($0.value.accountID) }
            for id in net.removedCodes { codes[id] = nil }
            for (account, client) in net.removedTokens { tokens[Self.name(account, client)] = nil }
            for code in net.codes where codes[code.id] == nil { codes[code.id] = code }
            for token in net.tokens { tokens[Self.name(token.accountID, token.clientID)] = token }
        }
    }

    @Test func `comes to the same as the changes one after the other, whatever they are`() {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<2000 {
            let changes = (0..<Int.random(in: 0...12, using: &generator)).map { _ -> AppleTokenChange in
                let number = UInt64.random(in: 1...4, using: &generator)
                // A code belongs to one account for ever.
                let owner = number.isMultiple(of: 2) ? Self.first : Self.second
                let account = Bool.random(using: &generator) ? Self.first : Self.second
                let client: ClientID = Bool.random(using: &generator) ? "com.example.app" : "com.example.web"
                return switch Int.random(in: 0..<9, using: &generator) {
                case 0...2: .insertCode(Self.code(number, of: owner))
                case 3: .removeCode(.sample(number))
                case 4...6: .putToken(Self.token(number, of: account, client))
                case 7: .removeToken(account, client)
                default: .removeAll(account)
                }
            }
            var oneByOne = Tables()
            oneByOne.carryOut([
                .insertCode(Self.code(1, of: Self.second)), .insertCode(Self.code(2)),
                .putToken(Self.token(9)),
            ])
            var atOnce = oneByOne
            oneByOne.carryOut(changes)
            atOnce.carryOut(NetAppleTokenChanges(changes))
            #expect(oneByOne == atOnce)
        }
    }

    @Test func `names no token and no code twice, however often they change`() {
        let net = NetAppleTokenChanges([
            .putToken(Self.token(1)), .putToken(Self.token(2)), .insertCode(Self.code(1)),
            .insertCode(Self.code(1)), .putToken(Self.token(3, of: Self.second)),
        ])
        #expect(net.tokens.map(\.id) == [.sample(2), .sample(3)])
        #expect(net.codes.map(\.id) == [.sample(1)])
    }
}

/// Checks that Apple is asked about a token at most once a day. A request with an unknown outcome counts.
@Suite struct ThrottleTests {
    static let day: Int64 = 86_400_000

    @Test func `gives out no check twice in a day, with three replicas whose connections break`() async throws
    {
        try await Replicas.with(3) { replicas in
            for number in 1...20 as ClosedRange<UInt64> {
                try await replicas.stores[0].hold(number, key: .sample("p\(number)"), nextCheckAt: 1000)
            }
            var claims: [UniqueID: [Int64]] = [:]
            var random = SeededGenerator(seed: 7)
            var now: Int64 = 1000
            for round in 0..<90 {
                now += Int64.random(in: 60_000...7_200_000, using: &random)
                let claimed = await claim(
                    in: replicas, at: Moment(milliseconds: now), cutting: round % 3 == 0)
                for id in claimed { claims[id, default: []].append(now) }
            }
            #expect(claims.count == 20)
            for moments in claims.values {
                #expect(moments.count > 1)
                for (earlier, later) in zip(moments, moments.dropFirst()) {
                    #expect(later - earlier >= Self.day)
                }
            }
        }
    }

    /// Claims with two tasks on each replica at the same time, optionally while all connections break.
    private func claim(in replicas: Replicas, at moment: Moment, cutting isCut: Bool) async -> [UniqueID] {
        await withTaskGroup(of: [UniqueID].self) { group in
            for store in replicas.stores + replicas.stores {
                group.addTask {
                    let checks = try? await store.claimChecks(
                        limit: 4, at: moment, nextAfter: moment.advanced(byMilliseconds: Self.day),
                        jitterMilliseconds: 3_600_000)
                    return checks?.map(\.tokenID) ?? []
                }
            }
            if isCut {
                group.addTask {
                    try? await replicas.cutConnections()
                    return []
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}

@Suite struct ImportLockingTests {
    private static let lock = PostgresStatement(
        "test_lock", "SELECT id FROM subject WHERE account_id = $1::uuid FOR UPDATE NOWAIT")
    private static let waiting = PostgresCall(
        PostgresStatement(
            "test_waiting",
            """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (
                SELECT pid FROM pg_stat_activity WHERE datname = current_database())
            """))

    @Test func `an import locks users in the order of batches, not of the teams' numbers`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            // The team that is met first has the lower number, and the later name.
            let last = try await here.signIn(.sample(key: .sample(team: "ZTEAM00001", "person"))).account.id
            let first = try await here.signIn(.sample(key: .sample(team: "ATEAM00001", "person"))).account.id
            let transfers = [last, first].enumerated().map { number, account in
                TransferRecord(
                    recipientTeam: "OTHERTEAM1", transferSubject: AppleSubject(stringLiteral: "t\(number)"),
                    accountID: account, from: nil, createdAt: 1, expiresAt: 1000)
            }
            let (isHeld, held) = AsyncStream<Void>.makeStream()
            let importing = Task {
                for await _ in isHeld {}
                try await there.importTransfers(transfers)
            }
            let isWaiting = try await here.pool.run { session in
                defer { held.finish() }
                _ = try session.pipeline([.begin, PostgresCall(Self.lock, [.uuid(first.uniqueID)])])
                held.finish()
                let deadline = ContinuousClock.now + .seconds(2)
                var isWaiting = false
                while !isWaiting, ContinuousClock.now < deadline {
                    isWaiting = try session.run(Self.waiting).integer(0, 0) != 0
                }
                // It would hold this one already if it had begun with it.
                _ = try session.pipeline([PostgresCall(Self.lock, [.uuid(last.uniqueID)]), .commit])
                return isWaiting
            }
            #expect(isWaiting)
            try await importing.value
            #expect(try await here.purgeTransfers(expiredBefore: .last) == 2)
        }
    }
}
