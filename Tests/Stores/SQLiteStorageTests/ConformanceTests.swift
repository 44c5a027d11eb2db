import AppleAccounts
import SQLiteStorage
import StorageConformance
import Testing

@Suite struct ConformanceTests {
    @Test(arguments: ConformanceCheck.all)
    func `conforms`(check: ConformanceCheck) async throws {
        let file = try TemporaryDatabase()
        try await file.use { try await check.run($0.accounts) }
        #expect(try await file.misplacedCredentials() == [])
    }

    @Test func `conforms without sealing`() async throws {
        let file = try TemporaryDatabase()
        try await file.use(sealing: NoAppleTokenSealing()) {
            try await ConformanceCheck.withoutSealing.run($0.accounts)
        }
    }
}
