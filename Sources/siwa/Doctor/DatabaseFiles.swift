import Foundation

/// Checks that the service can write the files of a SQLite database: the database, its write-ahead log, and
/// the lock file that keeps out a second process. A command that was run as another user leaves files that
/// the service cannot open.
struct DatabaseFiles {
    private let path: String

    /// Returns `nil` for a database that is not a file.
    init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        self.path = path
    }

    /// The error; `nil` when there is none.
    var finding: Finding? {
        let owner = Self.owner(of: path)
        for file in [path, path + "-wal", path + "-shm", path + ".lock"] {
            guard FileManager.default.fileExists(atPath: file) else { continue }
            let isWritable = FileManager.default.isWritableFile(atPath: file)
            // root may write every file, but the service runs as the owner of the database.
            guard !isWritable || Self.owner(of: file) != owner else { continue }
            return .wrong(
                DatabaseCheck.name, "\(file) belongs to another user, so siwa serve cannot write it",
                advice: "Change its owner to the user that runs siwa serve: chown --reference=\(path) \(file)"
            )
        }
        return nil
    }

    private static func owner(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.ownerAccountID] as? Int
    }
}
