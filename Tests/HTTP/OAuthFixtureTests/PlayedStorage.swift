import AppleAccounts
import AuthorizationServer
import Logging
import SQLiteStorage
import StorageConformance
import TestSupport

/// Stores for the fixtures of OAuth.
enum PlayedStorage: String, CaseIterable {
    case memory, sqlite

    func with<Result>(_ body: (any ConformingStore) async throws -> Result) async throws -> Result {
        switch self {
        case .memory: return try await body(ReferenceStore())
        case .sqlite:
            let directory = try TemporaryDirectory()
            let database = try await SQLiteDatabase.open(
                path: directory.path(of: "siwa.sqlite"), sealing: SampleSealing(), logger: .silent)
            do {
                let result = try await body(database.accounts)
                await database.close()
                return result
            } catch {
                await database.close()
                throw error
            }
        }
    }
}
