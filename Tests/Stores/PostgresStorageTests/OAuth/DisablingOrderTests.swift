import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// A sign-in without new facts, which locks no account, and a disabling at another replica, in either order.
@Suite struct DisablingOrderTests {
    private static let user = SubjectKey.sample("person")

    @Test(arguments: [true, false])
    func `a sign-in that has read an enabled account does not commit after the disabling`(
        isSignInFirst: Bool
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let account = try await here.signIn(.sample(key: Self.user)).account
            let holder = try LockHolder(replicas.url, "SELECT app_id FROM credential FOR UPDATE")
            let signIn = { @Sendable () -> AccountRefusal.Code? in
                let outcome = try await here.commit([
                    .signIn(.sample(key: Self.user, authorizedAt: 1_500_000, receivedAt: 1_500_000))
                ])
                guard case .refused(let refusal) = outcome.results[0] else { return nil }
                return refusal.code
            }
            let disable = { @Sendable () -> AccountRefusal.Code? in
                try await there.change(DisableCommand.sample(account))
                return nil
            }
            async let first = (isSignInFirst ? signIn : disable)()
            try await eventually { try holder.allWaiters == 1 }
            // The second reads an enabled account too, and waits to write.
            async let second = (isSignInFirst ? disable : signIn)()
            try await eventually { try holder.allWaiters == 2 }
            try holder.release()
            let (earlier, later) = (try await first, try await second)
            #expect(earlier == nil)
            #expect(later == (isSignInFirst ? nil : .accountDisabled))
            let found = try await there.account(account.id)
            #expect(found?.disabling != nil)
            #expect(found?.lastSignInAt == (isSignInFirst ? 1_500_000 : account.lastSignInAt))
        }
    }
}
