import AppleAccounts
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
        try await with(settings.database, body) { try await settings.openDatabase(logger: $0) }
    }

    /// Opens the database for a command that neither seals nor opens secrets.
    static func with<Result>(
        _ location: DatabaseLocation, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result {
        try await with(location, body) {
            try await location.open(sealing: NoAppleTokenSealing(), connections: 1, logger: $0)
        }
    }

    private static func with<Result>(
        _ location: DatabaseLocation, _ body: (any ServiceStore) async throws -> Result,
        opening open: (Logger) async throws -> any ServiceDatabase
    ) async throws -> Result {
        try await location.checkPresence()
        let database = try await open(Logger(label: "siwa"))
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
        try await SettingsReader.ending {
            try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
        }
    }
}

extension DatabaseLocation {
    /// Reads the location from the environment of this process, as `ServiceSettings.ofProcess()` does, for a
    /// command that needs no other setting.
    static func ofProcess() async throws -> DatabaseLocation {
        try await SettingsReader.ending {
            try await SettingsReader.database(environment: ProcessInfo.processInfo.environment)
        }
    }
}

extension SettingsReader {
    /// Prints the mistakes of a configuration, and ends the process with status 78.
    fileprivate static func ending<Value>(_ read: () async throws -> Value) async throws -> Value {
        do {
            return try await read()
        } catch let mistakes as ConfigurationMistakes {
            ErrorMessage.write(mistakes.description)
            ServiceVariables.writeAdvice()
            throw OperatorMistake.exitStatus
        }
    }
}
