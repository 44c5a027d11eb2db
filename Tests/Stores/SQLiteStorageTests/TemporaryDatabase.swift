import AppleAccounts
import Logging
import SQLiteStorage
import StorageConformance
import TestSupport

/// A directory of its own for one database, removed at the end.
final class TemporaryDatabase: Sendable {
    private let place: TemporaryDirectory
    var directory: String { place.path }
    var path: String { place.path(of: "siwa.sqlite") }

    init() throws {
        place = try TemporaryDirectory()
    }

    func open(
        patience: Duration = .zero, sealing: any AppleTokenSealing = SampleSealing()
    ) async throws -> SQLiteDatabase {
        try await SQLiteDatabase.open(
            path: path, sealing: sealing, patience: patience, logger: Logger(label: "test"))
    }

    /// Opens, runs and closes.
    func use<Value>(
        sealing: any AppleTokenSealing = SampleSealing(), _ body: (SQLiteDatabase) async throws -> Value
    ) async throws -> Value {
        let database = try await open(sealing: sealing)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }
}
