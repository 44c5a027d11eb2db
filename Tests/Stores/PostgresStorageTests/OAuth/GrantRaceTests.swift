import AppleAccounts
import AuthorizationServer
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// Changes of the same grants by several replicas at the same time.
@Suite struct GrantRaceTests {
    @Test func `gives tokens for a code to one of twenty who redeem it at once`() async throws {
        try await Replicas.with(2) { replicas in
            let account = try await replicas.stores[0].signIn(.sample()).account
            for round in 1...25 as ClosedRange<UInt64> {
                try await replicas.stores[0].authorize(.sample(round, account: account.id))
                let codes = await outcomes(replicas, 20) { number in
                    .redeem(.sample(round, family: round * 100 + UInt64(number)))
                }
                #expect(codes.count { $0 == nil } == 1)
                #expect(codes.count { $0 == .codeRetried } == 19)
            }
        }
    }

    @Test func `makes one grant of twenty agreements at once`() async throws {
        try await Replicas.with(2) { replicas in
            for round in 0..<10 as Range<UInt64> {
                let key = SubjectKey.sample("p\(round)")
                let account = try await replicas.stores[0].signIn(.sample(key: key)).account
                let codes = await outcomes(replicas, 20) { number in
                    .authorize(.sample(round * 100 + UInt64(number), account: account.id))
                }
                #expect(codes.allSatisfy { $0 == nil })
                #expect(try await replicas.stores[1].grants(of: account.id).count == 1)
            }
            let created = try await replicas.stores[0].allEvents().filter { $0.kind == .grantCreated }
            #expect(created.count == 10)
        }
    }

    @Test func `gives twenty uses of one refresh token at once the same successor`() async throws {
        try await Replicas.with(2) { replicas in
            for round in 1...10 as ClosedRange<UInt64> {
                try await replicas.stores[0].link(round, key: .sample("p\(round)"))
                let token = SampleToken(family: round)
                let successors = try await withThrowingTaskGroup(of: RefreshTokenText?.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            try await replicas.stores[number % 2].refresh(.sample(token, salt: number))
                                .successor
                        }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                let successor = try #require(successors.first as? RefreshTokenText)
                #expect(successors.count == 1)
                let family = try #require(
                    try await replicas.stores[0].status(ofFamily: .sample(round))?.family)
                #expect(family.refreshToken?.digest == successor.digest)
                #expect(family.refreshToken?.generation == 1)
            }
        }
    }

    /// A command that comes while the tokens of a family are used.
    enum Intrusion: CaseIterable, Sendable { case revocation, endOfGrant, withdrawnConsent, disabling }

    /// 750 users refresh at two replicas, in four rounds each, every token of the family that can still be
    /// repeated, while others read the family. In one round in eight of the families something ends or suspends
    /// the tokens at the same moment.
    @Test func `has one token of each generation in 3,000 random rounds of exchanges at once`() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed of the random exchanges: \(seed)")
        try await Replicas.with(2) { replicas in
            let faults = try await replicas.play(750, workers: 6) { number in
                var generator = SeededGenerator(seed: seed &+ UInt64(number))
                return try await Self.faults(of: UInt64(number) + 1, in: replicas.stores, using: &generator)
            }.flatMap { $0 }
            #expect(faults == [], "seed \(seed)")
        }
    }

    private static func faults(
        of family: UInt64, in stores: [PostgresAccountStore], using generator: inout SeededGenerator
    ) async throws -> [String] {
        let key = SubjectKey.sample("p\(family)")
        let grant = try await stores[0].link(family, key: key)
        // The only text of each generation.
        var texts = [SampleToken(family: family).text]
        for round in 0..<4 {
            let known = texts.count
            let intrusion =
                Int.random(in: 0..<8, using: &generator) == 0
                ? Intrusion.allCases.randomElement(using: &generator) : nil
            let uses = (0..<Int.random(in: 2...6, using: &generator)).map { use in
                // The newest token is used once at least.
                (
                    token: use == 0
                        ? texts[texts.count - 1] : texts.randomElement(using: &generator) ?? texts[0],
                    store: stores[Int.random(in: 0...1, using: &generator)],
                    // All within the window, in any order, as with clocks that differ.
                    moment: Moment(milliseconds: 2_100_000 + Int64.random(in: 0..<59_000, using: &generator))
                )
            }.shuffled(using: &generator)
            let intruded = stores[Int.random(in: 0...1, using: &generator)]
            let answers = await withTaskGroup(of: Result<IssuedTokens, any Error>?.self) { group in
                for (number, use) in uses.enumerated() {
                    group.addTask {
                        let command = RefreshCommand(
                            oauthClientID: "phone", presented: use.token,
                            rotation: .init(salt: SampleToken.salt(round * 10 + number), retryWindow: 60_000),
                            scope: nil, clientScopes: .sample, familyExpiresAt: 900_000_000,
                            moment: use.moment)
                        do { return .success(try await use.store.refresh(command)) } catch {
                            return .failure(error)
                        }
                    }
                }
                group.addTask {
                    _ = try? await intruded.status(ofFamily: .sample(family))
                    guard let intrusion else { return nil }
                    do {
                        try await Self.intrude(intrusion, on: grant, key, with: uses[0].token, in: intruded)
                        return nil
                    } catch { return .failure(error) }
                }
                return await group.reduce(into: []) { all, answer in answer.map { all.append($0) } }
            }
            var faults: [String] = []
            for answer in answers {
                switch answer {
                case .success(let issued):
                    guard let text = issued.successor else { return ["\(family): no successor"] }
                    if Int(text.generation) == texts.count { texts.append(text) }
                    if Int(text.generation) >= texts.count || texts[Int(text.generation)] != text {
                        faults.append("\(family): two texts of generation \(text.generation)")
                    }
                case .failure(let refusal as GrantRefusal):
                    let permitted: GrantRefusal.Code? =
                        intrusion.map { $0 == .disabling ? .accountDisabled : .refreshTokenNotFound }
                    if refusal.code != permitted { faults.append("\(family): \(refusal.code)") }
                case .failure(let error): faults.append("\(family): \(error)")
                }
            }
            if intrusion == .disabling {
                _ = try await stores[0].commit([
                    .enable(
                        EnableCommand(key: key, accountID: grant.accountID, scope: .all, moment: 2_160_000))
                ])
            }
            let status = try await stores[1].status(ofFamily: .sample(family))
            if let intrusion, intrusion != .disabling {
                return faults + (status == nil ? [] : ["\(family): \(intrusion) left the family"])
            }
            if status?.family.refreshToken?.digest != texts.last?.digest {
                faults.append("\(family): the newest token is another")
            }
            if intrusion == nil, texts.count != known + 1 {
                faults.append("\(family): \(texts.count) generations after \(known)")
            }
            guard faults.isEmpty else { return faults }
        }
        return []
    }

    private static func intrude(
        _ intrusion: Intrusion, on grant: GrantRecord, _ key: SubjectKey, with token: RefreshTokenText,
        in store: PostgresAccountStore
    ) async throws {
        switch intrusion {
        case .revocation:
            try await store.revoke(
                RevokeCommand(oauthClientID: "phone", token: .refresh(token), moment: 2_130_000))
        case .endOfGrant:
            try await store.carryOut(.end(.sample(grant.id, of: grant.accountID, at: 2_130_000)))
        case .withdrawnConsent: _ = try await store.notify(.sample(key: key, at: 2_130_000))
        case .disabling:
            _ = try await store.commit([
                .disable(
                    DisableCommand(
                        key: key, accountID: grant.accountID, reason: .abuse, until: .last, scope: .all,
                        moment: 2_130_000))
            ])
        }
    }

    /// All orders of two uses of a token at two replicas and a revocation with it at a third.
    static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    @Test(arguments: orders)
    func `decides an exchange, its repetition and a revocation in the order of their locks`(order: [Int])
        async throws
    {
        // The holder sees the connections that were open when it looked first, and each replica has one.
        try await Replicas.with(3) { replicas in
            try await replicas.stores[0].link()
            let token = SampleToken(family: 1)
            let holder = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE")
            let work: @Sendable (Int) async -> Result<RefreshTokenText?, any Error> = { number in
                do {
                    guard number == 2 else {
                        return .success(
                            try await replicas.stores[number].refresh(.sample(token, salt: number)).successor)
                    }
                    try await replicas.stores[2].revoke(.sample(token))
                    return .success(nil)
                } catch { return .failure(error) }
            }
            var results: [Int: Result<RefreshTokenText?, any Error>] = [:]
            try await withThrowingTaskGroup(of: (Int, Result<RefreshTokenText?, any Error>).self) { group in
                for (place, number) in order.enumerated() {
                    group.addTask { (number, await work(number)) }
                    while try holder.allWaiters < place + 1 { await Task.yield() }
                }
                try holder.release()
                for try await (number, result) in group { results[number] = result }
            }
            let before = order.prefix { $0 != 2 }
            for number in [0, 1] {
                switch results[number] {
                case .success(let text):
                    // Both get what the salt of the first yields.
                    #expect(before.contains(number) && text == token.next(before.first ?? 9).text)
                case .failure(let error):
                    #expect((error as? GrantRefusal)?.code == .refreshTokenNotFound)
                    #expect(!before.contains(number))
                case nil: Issue.record("no result")
                }
            }
            #expect(try await replicas.stores[0].status(ofFamily: .sample(1)) == nil)
        }
    }

    @Test func `leaves no good token of a consent that is withdrawn at the same time`() async throws {
        try await Replicas.with(2) { replicas in
            let users = (0..<10).map { SubjectKey.sample("p\($0)") }
            for round in 0..<200 as Range<UInt64> {
                // Fewer new grants within an hour than a user can give.
                let begin = Moment(milliseconds: 1_000_000 + Int64(round) * 240_000)
                let families = (0..<UInt64(users.count * 2)).map { round * 20 + $0 }
                try await link(users, families: families, at: begin, in: replicas.stores[0])
                let end = begin.advanced(byMilliseconds: 50)
                await withTaskGroup(of: Void.self) { group in
                    for (number, key) in users.enumerated() {
                        let (family, flip) = (families[number * 2], Int.random(in: 0...1))
                        group.addTask {
                            let revocation = NotificationCommand.sample(key: key, at: end)
                            _ = try? await replicas.stores[flip].notify(revocation)
                        }
                        group.addTask {
                            _ = try? await replicas.stores[1 - flip].refresh(
                                .sample(SampleToken(family: family), at: end))
                        }
                        group.addTask {
                            _ = try? await replicas.stores[1 - flip].redeem(.sample(family + 1, at: end))
                        }
                    }
                }
                #expect(try await goodLines(families, in: replicas.stores[1]) == [])
            }
            // Nor does a later sign-in bring any back.
            for key in users {
                let account = try await replicas.stores[0].signIn(.sample(key: key, authorizedAt: 90_000_000))
                    .account
                #expect(try await replicas.stores[0].grants(of: account.id) == [])
            }
        }
    }

    @Test(arguments: [true, false])
    func `decides a refresh and a withdrawn consent in the order of their locks`(isRefreshFirst: Bool)
        async throws
    {
        try await Replicas.with(2) { replicas in
            try await replicas.stores[0].link()
            let holder = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE")
            let refresh: @Sendable () async -> GrantRefusal.Code? = {
                do {
                    try await replicas.stores[0].refresh(.sample())
                    return nil
                } catch { return (error as? GrantRefusal)?.code }
            }
            let notify: @Sendable () async -> GrantRefusal.Code? = {
                _ = try? await replicas.stores[1].notify(.sample(at: 2_000_000))
                return nil
            }
            async let first = (isRefreshFirst ? refresh : notify)()
            while try holder.allWaiters < 1 { await Task.yield() }
            async let second = (isRefreshFirst ? notify : refresh)()
            while try holder.allWaiters < 2 { await Task.yield() }
            try holder.release()
            let refusal = isRefreshFirst ? await first : await second
            _ = isRefreshFirst ? await second : await first
            #expect(refusal == (isRefreshFirst ? nil : .refreshTokenNotFound))
            #expect(try await replicas.stores[0].status(ofFamily: .sample(1)) == nil)
        }
    }

    @Test func `takes one security event of Google's once`() async throws {
        try await Replicas.with(2) { replicas in
            for round in 0..<10 {
                let event = GoogleEventCommand.sample(
                    .disable(googleSubject: "google-sub-1", at: 5000), jti: "jti-\(round)")
                let receipts = await withTaskGroup(of: GrantOutcome?.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            try? await replicas.stores[number % 2].carryOut(.googleEvent(event))
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let applied = GrantOutcome.googleEvent(.applied(unmatched: .accountDisabled))
                #expect(receipts.count { $0 == applied } == 1)
                #expect(receipts.count { $0 == .googleEvent(.duplicate) } == 19)
            }
        }
    }

    /// Gives each user tokens and another code, all in two transactions.
    private func link(
        _ users: [SubjectKey], families: [UInt64], at begin: Moment, in store: PostgresAccountStore
    ) async throws {
        let signedIn = try await store.commit(
            users.map { .signIn(.sample(key: $0, authorizedAt: begin)) })
        var commands: [GrantCommand] = []
        for (number, result) in signedIn.results.enumerated() {
            guard case .done(.signedIn(let outcome)) = result else {
                Issue.record("\(users[number]) was not signed in: \(result)")
                continue
            }
            let family = families[number * 2]
            for code in [family, family + 1] {
                commands.append(
                    .authorize(
                        .sample(code, account: outcome.account.id, authenticatedAt: begin, at: begin)))
            }
            commands.append(.redeem(.sample(family, at: begin.advanced(byMilliseconds: 1000))))
        }
        #expect(commands.count == users.count * 3)
        for result in try await store.commit(grants: commands).results { _ = try result.get() }
    }

    /// Returns the token families whose tokens are valid.
    private func goodLines(_ families: [UInt64], in store: PostgresAccountStore) async throws -> [UInt64] {
        try await withThrowingTaskGroup(of: UInt64?.self) { group in
            for family in families {
                group.addTask { try await store.status(ofFamily: .sample(family)) == nil ? nil : family }
            }
            return try await group.reduce(into: []) { good, family in good += family.map { [$0] } ?? [] }
        }
    }

    /// Carries out this many commands at the same time, at all replicas. Returns the refusal of each command.
    private func outcomes(
        _ replicas: Replicas, _ count: Int, _ command: @escaping @Sendable (Int) -> GrantCommand
    ) async -> [GrantRefusal.Code?] {
        await withTaskGroup(of: GrantRefusal.Code?.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await replicas.stores[number % replicas.stores.count].carryOut(command(number))
                        return nil
                    } catch let refusal as GrantRefusal {
                        return refusal.code
                    } catch {
                        Issue.record(error)
                        return .googleAccountDisabled
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
