import AppleAccounts
import KeySets
import Logging
import SQLiteStorage
import Synchronization
import TestSupport

/// A database file in a directory of its own, which is removed with this value.
final class SQLiteScenarioStorage: ScenarioStorage {
    private let directory: TemporaryDirectory
    private let database = Mutex<SQLiteDatabase?>(nil)

    init() throws {
        directory = try TemporaryDirectory()
    }

    func open() async throws -> (
        accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore
    ) {
        var logger = Logger(label: "scenario")
        logger.logLevel = .error
        let opened = try await SQLiteDatabase.open(
            path: directory.path(of: "siwa.sqlite"), logger: logger)
        database.withLock { $0 = opened }
        return (opened.accounts, opened.keySetSnapshots)
    }

    func close() async {
        let opened = database.withLock { database in
            defer { database = nil }
            return database
        }
        await opened?.close()
    }
}
