import AppleAccounts
import StorageConformance
import Testing

@Suite struct ConformanceTests {
    @Test(arguments: ConformanceCheck.all)
    func `conforms`(check: ConformanceCheck) async throws {
        try await EmptyStores.shared.use { try await check.run($0) }
    }

    @Test func `conforms without sealing`() async throws {
        try await EmptyStores.shared.use(sealing: NoAppleTokenSealing()) {
            try await ConformanceCheck.withoutSealing.run($0)
        }
    }
}
