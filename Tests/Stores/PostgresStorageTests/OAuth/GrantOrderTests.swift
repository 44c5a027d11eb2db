import AppleAccounts
import AuthorizationServer
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// The use of a token or code at one replica, and its end at another, in either order. Other sessions hold
/// locks, so that the order is always the intended order.
@Suite struct GrantOrderTests {
    struct Race: CustomTestStringConvertible {
        let use: GrantUse
        let end: GrantEnd
        let isUseFirst: Bool

        static let all = GrantUse.allCases.flatMap { use in
            GrantEnd.allCases.flatMap { end in
                [true, false].map { Race(use: use, end: end, isUseFirst: $0) }
            }
        }

        var testDescription: String { isUseFirst ? "\(use), then \(end)" : "\(end), then \(use)" }
    }

    private static let user = SubjectKey.sample("person")
    private static let family: UInt64 = 1
    private static let moment: Moment = 1_000_050

    @Test(arguments: Race.all)
    func `the later of the use and the end of tokens waits for the earlier, and sees what it did`(
        race: Race
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let (grant, account) = try await here.linkWithCode(Self.family, key: Self.user)
            let holder = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE")
            let use = { @Sendable in try await race.use.carryOut(Self.family, at: Self.moment, of: here) }
            let end = { @Sendable () -> GrantRefusal.Code? in
                try await race.end.carryOut(grant, of: account, at: there)
                return nil
            }
            async let first = (race.isUseFirst ? use : end)()
            try await eventually { try holder.allWaiters == 1 }
            async let second = (race.isUseFirst ? end : use)()
            try await eventually { try holder.allWaiters == 2 }
            try holder.release()
            let (earlier, later) = (try await first, try await second)
            let isGood = race.isUseFirst || race.end.isTransfer
            #expect((race.isUseFirst ? earlier : later) == (isGood ? nil : race.use.refusal(after: race.end)))
            let families = race.use == .refresh ? [Self.family] : [Self.family, Self.family + 1]
            for family in families {
                #expect(try await here.isGood(family, at: Self.moment) == race.end.isTransfer)
            }
            #expect(try await there.grants(of: account.id).isEmpty != race.end.keepsGrants)
        }
    }

    /// A transfer changes the key of the user's row while the refresh waits for the row.
    @Test func `holds the lock of an account that was moved while it waited`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let (grant, account) = try await here.linkWithCode(Self.family, key: Self.user)
            let rows = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE")
            let families = try LockHolder(replicas.url, "SELECT id FROM oauth_token_family FOR UPDATE")
            async let moved: Void = GrantEnd.transferred.carryOut(grant, of: account, at: there)
            try await eventually { try rows.allWaiters == 1 }
            async let refusal = GrantUse.refresh.carryOut(Self.family, at: Self.moment, of: here)
            try await eventually { try rows.allWaiters == 2 }
            try rows.release()
            try await moved
            // The refresh has read the account, and waits to write.
            try await eventually { try families.waiters == 1 }
            #expect(throws: PostgresError.self) {
                _ = try LockHolder(replicas.url, "SELECT id FROM subject FOR UPDATE NOWAIT")
            }
            try families.release()
            #expect(try await refusal == nil)
        }
    }
}
