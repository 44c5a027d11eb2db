import Foundation
import PostgresStorage

/// The configured location has no database. A command that works on stored data must not create an empty
/// database and report success.
struct MissingDatabase: Error, Equatable, CustomStringConvertible {
    let location: DatabaseLocation

    var description: String {
        switch location {
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
