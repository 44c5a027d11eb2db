import AppleAccounts
import Foundation
import KeySets
import Logging
import SQLiteStorage
import Synchronization

/// A database file in a directory of its own, which goes away with this value.
final class SQLiteScenarioStorage: ScenarioStorage {
    private let directory: URL
    private let database = Mutex<SQLiteDatabase?>(nil)

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "siwa-scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func open() async throws -> (accounts: any AccountStore & GrantStore, snapshots: any KeySetSnapshotStore)
    {
        var logger = Logger(label: "scenario")
        logger.logLevel = .error
        let opened = try await SQLiteDatabase.open(
            path: directory.appending(path: "siwa.sqlite").path(), logger: logger)
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
