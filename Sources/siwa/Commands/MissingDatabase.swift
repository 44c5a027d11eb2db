import Foundation
import PostgresStorage

/// There is no database where the configuration says. A command that works on what is stored must not make an empty one and
/// call that a success.
struct MissingDatabase: Error, Equatable, CustomStringConvertible {
    let location: DatabaseLocation

    var description: String {
        switch location {
        case .sqlite(let path):
            "There is no database at \(path). See that DATABASE_URL names the right file; siwa serve makes a new one."
        case .postgres(let address):
            "Nothing of siwa's is stored in \(address.place). See that DATABASE_URL names the right database; siwa serve "
                + "makes what it needs in an empty one."
        }
    }
}

extension DatabaseLocation {
    /// Throws `MissingDatabase`, and `StorageError` when nobody can say.
    func checkPresence() async throws {
        switch self {
        case .sqlite(let path):
            let file = URL(fileURLWithPath: path)
            let values = try? file.resolvingSymlinksInPath().resourceValues(forKeys: [
                .isRegularFileKey, .fileSizeKey,
            ])
            // A database is never empty: an empty file is an attempt to make one.
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
