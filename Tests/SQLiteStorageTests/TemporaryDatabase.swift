import Foundation
import Logging
import SQLiteStorage

/// A directory of its own for one database, removed at the end.
final class TemporaryDatabase: Sendable {
    let directory: String
    var path: String { directory + "/siwa.sqlite" }

    init() throws {
        directory = NSTemporaryDirectory() + "siwa-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    func open(patience: Duration = .zero) async throws -> SQLiteDatabase {
        try await SQLiteDatabase.open(path: path, patience: patience, logger: Logger(label: "test"))
    }

    /// Opens, runs and closes.
    func use<Value>(_ body: (SQLiteDatabase) async throws -> Value) async throws -> Value {
        let database = try await open()
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
