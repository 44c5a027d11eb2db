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
}
