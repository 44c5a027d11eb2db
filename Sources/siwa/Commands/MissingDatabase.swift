import Encodings
import Foundation
import PostgresStorage

/// The configured location has no database. A command that works on stored data must not create an empty
/// database and report success.
struct MissingDatabase: Error, Equatable, CustomStringConvertible {
    let location: DatabaseLocation
    /// True when this user may not look into the file or its folder.
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
    /// Throws `MissingDatabase`, and `StorageError` when the database cannot be reached.
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
            // A database file is never empty: a failed creation leaves an empty file.
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

/// Advice for a shell that has none of the variables of the service.
enum ServiceVariables {
    /// The folder that docs/deploy.md makes.
    private static let folder = "/etc/siwa"

    /// - Parameter arguments: The arguments of this process.
    /// - Returns: `nil` where the shell has variables of the service, or the service is not installed as the page says.
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
            + "--property=UMask=0077 --working-directory=/var/lib/siwa /usr/local/bin/siwa "
            + words.joined(separator: " ")
    }

    /// Prints the advice, if there is one.
    static func writeAdvice() {
        if let advice = advice() { ErrorMessage.write(advice) }
    }
}
