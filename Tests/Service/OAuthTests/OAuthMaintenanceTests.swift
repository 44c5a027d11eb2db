import AppleAccounts
import AuthorizationServer
import Logging
import StorageConformance
import TestSupport
import Testing

@testable import OAuth

@Suite struct OAuthMaintenanceTests {
    @Test func `keys are made ahead, and codes are forgotten a day past their expiry`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
        _ = try await world.redeem(code)
        let maintenance = OAuthMaintenance(server: world.server, clock: HurriedClock(), logger: .silent)
        await maintenance.refreshKeys()
        #expect(Set(try await world.store.signingKeys().map(\.algorithm)) == ["ES256", "RS256"])
        world.clock.advance(by: .seconds(600 + 86_400 + 1))
        #expect(try await world.store.purgeGrants(at: world.now) > 0)
        await maintenance.purgeGrants()
        #expect(try await world.store.purgeGrants(at: world.now) == 0)
        // What the code gave lives on.
        #expect(try await world.store.grants(of: account.id).count == 1)
    }
}
