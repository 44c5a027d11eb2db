import AppleAccounts
import ArgumentParser
import Composition
import Encodings
import Foundation
import Logging
import PostgresStorage

/// Opens the database for a command that writes. A SQLite file can be open in only one process at a time;
/// with PostgreSQL the command can run while the service runs.
enum OpenedDatabase {
    /// Opens the database. Throws `MissingDatabase` if it does not exist, and `StorageError`, whose code is
    /// `.busy` while the service has the file open.
    static func with<Result>(
        _ settings: ServiceSettings, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result {
        try await with(settings.database, body) { try await settings.openDatabase(logger: $0) }
    }

    /// Opens the database for a command that does not seal or open secrets.
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
    /// Reads the settings from this process's environment. If the configuration has mistakes, prints them and
    /// ends the process with status 78.
    static func ofProcess() async throws -> ServiceSettings {
        try await SettingsReader.ending {
            try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
        }
    }
}

extension DatabaseLocation {
    /// Reads the location from this process's environment, like `ServiceSettings.ofProcess()`, for a command
    /// that needs no other setting.
    static func ofProcess() async throws -> DatabaseLocation {
        try await SettingsReader.ending {
            try await SettingsReader.database(environment: ProcessInfo.processInfo.environment)
        }
    }
}

extension SettingsReader {
    /// Runs `read`. If the configuration has mistakes, prints them and ends the process with status 78.
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

extension OpenedDatabase {
    /// Runs `body`. If the database fails, prints the error and ends the command.
    ///
    /// - Parameters:
    ///   - command: The command's name, for example "siwa reseal".
    ///   - busy: Text to print if the database is open in another process.
    static func reportingFailures(
        of command: String, busy: String, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as MissingDatabase {
            ErrorMessage.write(error.description)
            ServiceVariables.writeAdvice()
            throw ExitCode.failure
        } catch let error as StorageError {
            let reason = error.code == .busy ? busy : ErrorMessage.text(for: error)
            ErrorMessage.write("\(command) has failed: \(reason)")
            throw ExitCode.failure
        }
    }
}

/// The configured location has no database. A command that works on stored data must not create an empty
/// database and then report success.
struct MissingDatabase: Error, Equatable, CustomStringConvertible {
    let location: DatabaseLocation
    /// True if this user may not read the file or its folder.
    var isForbidden = false

    var description: String {
        switch location {
        case .sqlite(let path) where isForbidden:
            "This user may not read \(path). Run the command as the user that runs siwa serve."
        case .sqlite(let path):
            "There is no database at \(path). Check that DATABASE_URL names the right file; siwa serve creates a new one."
        case .postgres(let address):
            "\(address.place) has no tables of siwa. Check that DATABASE_URL names the right database; siwa serve "
                + "creates its tables in an empty one."
        }
    }
}

extension DatabaseLocation {
    /// Throws `MissingDatabase`, and `StorageError` if the database cannot be reached.
    func checkPresence() async throws {
        switch self {
        case .sqlite(let path):
            let file = URL(fileURLWithPath: path)
            guard access(path, R_OK) == 0 || errno != EACCES else {
                throw MissingDatabase(location: .sqlite(path: file.path), isForbidden: true)
            }
            let values = try? file.resolvingSymlinksInPath().resourceValues(forKeys: [
                .isRegularFileKey, .fileSizeKey,
            ])
            // A database file is never empty, but a failed creation leaves an empty file.
            guard values?.isRegularFile == true, values?.fileSize ?? 0 > 0 else {
                throw MissingDatabase(location: .sqlite(path: file.path))
            }
        case .postgres:
            let inspection = try inspection()
            let schema: InspectedSchema
            do { schema = try await inspection.schema() } catch {
                await inspection.close()
                throw error
            }
            await inspection.close()
            guard schema != .empty else { throw MissingDatabase(location: self) }
        }
    }
}

/// Advice for users whose shell lacks the service's environment variables.
enum ServiceVariables {
    /// The folder that docs/deploy.md creates.
    private static let folder = "/etc/siwa"

    /// - Parameter arguments: This process's arguments.
    /// - Returns: `nil` if the shell has any of the service's variables, or the service is not installed as
    ///   docs/deploy.md describes.
    static func advice(
        _ arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        environment: [String: String] = ProcessInfo.processInfo.environment,
        isInstalled: Bool = FileManager.default.fileExists(atPath: folder)
    ) -> String? {
        let names = ["APPLE_TEAM_ID", "APPLE_CLIENT_IDS", "SIWA_CONFIG", "DATABASE_URL"]
        guard isInstalled, !names.contains(where: { environment[$0] != nil }) else { return nil }
        let words = arguments.map { word in
            word.hasOnlyLettersDigits(and: "-._=:/@") ? word : "'\(word.replacing("'", with: #"'\''"#))'"
        }
        return
            "This shell has none of the service's variables: systemd alone reads \(folder)/siwa.env. As root:\n"
            + "  systemd-run --pipe --wait --quiet --uid=siwa --property=EnvironmentFile=\(folder)/siwa.env "
            + "--property=UMask=0077 --working-directory=/var/lib/siwa siwa "
            + words.joined(separator: " ")
    }

    /// Prints the advice, if there is any.
    static func writeAdvice() {
        if let advice = advice() { ErrorMessage.write(advice) }
    }
}
