import AppleAccounts
import Foundation

/// Notices that the database's files were moved, replaced or deleted while they are open.
///
/// SQLite goes on with the files that it has open, which then have no name: writes to them are lost when the
/// process ends. SQLite notices this only without a write-ahead log.
struct OpenFiles: Sendable {
    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t

        init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    private let paths: [String]
    private var identities: [Identity?]

    /// - Parameter path: Path of the database, which must exist.
    init(database path: String) {
        paths = [path, path + "-wal"]
        identities = [Identity(path: path), nil]
    }

    /// Throws `unavailable` when one of the files has moved. The log exists from the first transaction on.
    mutating func check() throws(StorageError) {
        for index in paths.indices {
            let found = Identity(path: paths[index])
            guard let expected = identities[index] else {
                identities[index] = found
                continue
            }
            guard found == expected else {
                throw StorageError(.unavailable, detail: "\(paths[index]) was moved, replaced or deleted")
            }
        }
    }
}
