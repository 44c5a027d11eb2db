import ArgumentParser
import Foundation
import Logging

/// Opens the database for a command that writes. Only one process at a time can open a SQLite file; with
/// PostgreSQL the command can run while the service runs.
enum OpenedDatabase {
    /// Throws `MissingDatabase` when there is no database, and `StorageError`, with `.busy` while the service
    /// has the file open.
    static func with<Result>(
        _ settings: ServiceSettings, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result {
        try await settings.database.checkPresence()
        let database = try await settings.openDatabase(logger: Logger(label: "siwa"))
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

extension ServiceSettings {
    /// Reads the settings from the environment of this process. When the configuration has mistakes, it
    /// prints them and ends the process with status 78.
    static func ofProcess() async throws -> ServiceSettings {
        do {
            return try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
        } catch let mistakes as ConfigurationMistakes {
            ErrorMessage.write(mistakes.description)
            throw OperatorMistake.exitStatus
        }
    }
}
