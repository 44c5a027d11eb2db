import AppleAccounts
import StorageConformance
import Testing

@Suite struct ReferenceStoreTests {
    @Test(arguments: ConformanceCheck.all)
    func `conforms`(check: ConformanceCheck) async throws {
        try await check.run(ReferenceStore())
    }

    @Test func `conforms without sealing`() async throws {
        try await ConformanceCheck.withoutSealing.run(ReferenceStore(sealing: NoAppleTokenSealing()))
    }
}
