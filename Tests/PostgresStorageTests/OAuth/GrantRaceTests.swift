import AppleAccounts
import AuthorizationServer
import StorageConformance
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

    @Test func `leaves one good refresh token of twenty uses at once`() async throws {
        try await Replicas.with(2) { replicas in
            for round in 1...10 as ClosedRange<UInt64> {
                try await replicas.stores[0].link(round, key: .sample("p\(round)"))
                let token = SampleToken(family: round)
                let codes = await outcomes(replicas, 20) { number in
                    .refresh(.sample(token, successor: number))
                }
                // The responses of all but the last were replaced as lost ones.
                #expect(codes.allSatisfy { $0 == nil })
                let family = try #require(
                    try await replicas.stores[0].status(ofFamily: .sample(round))?.family)
                let good = (0..<20).filter { family.refreshToken?.digest == token.next($0).presented.digest }
                #expect(good.count == 1)
                #expect(family.refreshToken?.generation == 1)
                let other = (0..<20).first { !good.contains($0) } ?? 0
                await #expect(throws: GrantRefusal(.refreshTokenReused)) {
                    try await replicas.stores[1].refresh(.sample(token.next(other)))
                }
                #expect(try await replicas.stores[0].status(ofFamily: .sample(round)) == nil)
            }
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
