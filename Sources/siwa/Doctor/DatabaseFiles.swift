import Foundation

/// Whether the service can write what belongs to a SQLite database: the file, its log, and the lock that keeps a second process
/// away. A command that was run as another user leaves files that the service cannot open.
struct DatabaseFiles {
    private let path: String

    /// `nil` for a database that is no file.
    init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        self.path = path
    }

    /// `nil` when nothing is wrong.
    var finding: Finding? {
        let owner = Self.owner(of: path)
        for file in [path, path + "-wal", path + "-shm", path + ".lock"] {
            guard FileManager.default.fileExists(atPath: file) else { continue }
            let isWritable = FileManager.default.isWritableFile(atPath: file)
            // The superuser may write everything; the service is run by the owner of the database.
            guard !isWritable || Self.owner(of: file) != owner else { continue }
            return .wrong(
                DatabaseCheck.name, "\(file) belongs to another user, and siwa serve cannot write it",
                advice: "Let it belong to the user that runs siwa serve: chown --reference=\(path) \(file)")
        }
        return nil
    }

    private static func owner(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.ownerAccountID] as? Int
    }
}
