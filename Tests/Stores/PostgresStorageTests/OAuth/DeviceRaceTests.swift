import AppleAccounts
import AuthorizationServer
import StorageConformance
import Testing

@testable import PostgresStorage

/// Devices that poll at several replicas, while users agree and accounts are disabled.
@Suite struct DeviceRaceTests {
    private func outcomes(
        _ replicas: Replicas, _ count: Int, _ command: @escaping @Sendable (Int) -> GrantCommand
    ) async -> [GrantRefusal.Code?] {
        await withTaskGroup(of: GrantRefusal.Code?.self) { group in
            // Tasks mostly run in the order in which they are added.
            for number in (0..<count).shuffled() {
                group.addTask {
                    do {
                        try await replicas.stores[number % replicas.stores.count].carryOut(command(number))
                        return nil
                    } catch {
                        return (error as? GrantRefusal)?.code ?? .accountNotFound
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `gives tokens to one of twenty polls at once`() async throws {
        try await Replicas.with(2) { replicas in
            let account = try await replicas.stores[0].signIn(.sample()).account
            for round in 1...25 as ClosedRange<UInt64> {
                try await replicas.stores[0].begin(.sample(round))
                try await replicas.stores[1].decide(.agree(round, account: account.id))
                let codes = await outcomes(replicas, 20) { number in
                    .pollDevice(.sample(round, family: round * 100 + UInt64(number)))
                }
                #expect(codes.count { $0 == nil } == 1)
                #expect(codes.count { $0 == .codeRetried } == 19)
            }
        }
    }

    @Test func `one of two users who decide at once wins, and a poll sees either none or all of it`()
        async throws
    {
        try await Replicas.with(2) { replicas in
            let accounts = [
                try await replicas.stores[0].signIn(.sample(key: .sample("a"))).account,
                try await replicas.stores[0].signIn(.sample(key: .sample("b"))).account,
            ]
            var seen: Set<GrantRefusal.Code?> = []
            for round in 1...60 as ClosedRange<UInt64> {
                try await replicas.stores[0].begin(.sample(round))
                let codes = await outcomes(replicas, 6) { number in
                    switch number {
                    case 0, 1:
                        .decideDevice(.agree(round, account: accounts[number].id))
                    case 2: .decideDevice(.refuse(round))
                    default: .pollDevice(.sample(round, family: round * 100 + UInt64(number)))
                    }
                }
                // One decision, and at most one poll with tokens.
                #expect((1...2).contains(codes.count { $0 == nil }))
                #expect(codes.count { $0 == .deviceCodeNotFound || $0 == .deviceDenied } >= 2)
                seen.formUnion(codes)
                let rest = await outcomes(replicas, 1) { _ in .pollDevice(.sample(round, at: 2_021_000)) }
                let isRefused = codes.contains(.deviceDenied) || rest == [.deviceDenied]
                #expect(isRefused || rest == [nil] || rest == [.codeRetried])
            }
            #expect(seen.contains(.devicePending))
        }
    }

    @Test func `leaves no live token when the account is disabled while the user agrees and devices poll`()
        async throws
    {
        try await Replicas.with(2) { replicas in
            for round in 1...150 as ClosedRange<UInt64> {
                let key = SubjectKey.sample("u\(round)")
                let account = try await replicas.stores[0].signIn(.sample(key: key)).account
                try await replicas.stores[0].begin(.sample(round))
                await withTaskGroup(of: Void.self) { group in
                    let stores = replicas.stores.shuffled()
                    group.addTask { _ = try? await stores[0].decide(.agree(round, account: account.id)) }
                    group.addTask {
                        for _ in 0..<Int.random(in: 0...40) { await Task.yield() }
                        _ = try? await stores[1].change(DisableCommand.sample(account, at: 2_011_000))
                    }
                    for _ in 0..<2 {
                        group.addTask {
                            for _ in 0..<Int.random(in: 0...40) { await Task.yield() }
                            _ = try? await stores.randomElement()?.poll(.sample(round))
                        }
                    }
                }
                #expect(try await !replicas.stores[1].isGood(round, at: 2_030_000))
                await #expect(throws: GrantRefusal.self) {
                    try await replicas.stores[0].poll(
                        .sample(round, family: round + 1_000_000, at: 2_021_000))
                }
            }
        }
    }

    @Test func `two replicas that store devices at once do not pass the ceiling`() async throws {
        try await Replicas.with(2) { replicas in
            let limits = DeviceLimits(perClient: 10, total: 15)
            let codes = await outcomes(replicas, 40) { number in
                let client: OAuthClientID = number % 4 < 2 ? "phone" : "tablet"
                return .beginDevice(
                    BeginDeviceCommand(device: .sample(UInt64(number), client: client), limits: limits))
            }
            #expect(codes.count { $0 == nil } == 15)
            #expect(codes.count { $0 == .tooManyDevices } == 25)
        }
    }

    @Test func `one of many devices that are offered one user code at once has it`() async throws {
        try await Replicas.with(2) { replicas in
            for round in 1...20 as ClosedRange<UInt64> {
                let codes = await outcomes(replicas, 8) { number in
                    .beginDevice(
                        BeginDeviceCommand(
                            device: .sample(round * 100 + UInt64(number), userCode: round)))
                }
                #expect(codes.count { $0 == nil } == 1)
                #expect(codes.count { $0 == .userCodeTaken } == 7)
            }
        }
    }
}
