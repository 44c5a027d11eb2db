import AppleAccounts
import Foundation
import Synchronization

/// Prevents a second service process from using a database file. The system releases the lock when the
/// process exits, crashes or is killed.
///
/// The lock uses a separate file, because closing any descriptor of the database file would drop SQLite's own
/// locks.
final class DatabaseFileLock: Sendable {
    private let descriptor: Mutex<Int32?>

    private init(descriptor: Int32) {
        self.descriptor = Mutex(descriptor)
    }

    deinit {
        release()
    }

    static func acquire(beside path: String, patience: Duration) async throws -> DatabaseFileLock {
        let deadline = ContinuousClock.now + patience
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let cause = errno
            let advice =
                cause == EACCES || cause == EPERM
                ? "this user may not write it; let it belong to the user that runs siwa serve"
                : "errno \(cause)"
            throw StorageError(.unavailable, detail: "cannot open \(path).lock: \(advice)")
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let cause = errno
            let mayWait = cause == EWOULDBLOCK || cause == EINTR
            guard mayWait, !Task.isCancelled, ContinuousClock.now < deadline else {
                Foundation.close(descriptor)
                throw StorageError(
                    mayWait ? .busy : .unavailable, detail: "another process has \(path): errno \(cause)")
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return DatabaseFileLock(descriptor: descriptor)
    }

    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            Foundation.close(open)
            descriptor = nil
        }
    }
}

/// Detects that the database's files were moved, replaced or deleted while they are open.
///
/// SQLite keeps using its open files, which then have no name, so writes to them are lost when the process
/// ends. SQLite itself detects this only without a write-ahead log.
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

    /// Throws `unavailable` if one of the files has moved. The log exists only after the first transaction.
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

/// Free space on the database file's disk.
enum DiskSpace {
    /// Minimum number of free bytes. With less space, a few pages may still fit into the log's free space
    /// although the next sign-in does not.
    static let least: UInt = 1 << 20

    /// Returns how many more bytes this process can write to the file system that contains `path`, or `nil`
    /// if the system does not report the free space. Blocks while the file system hangs.
    static func free(at path: String) -> Int64? {
        guard let status = status(at: path) else { return nil }
        let (bytes, overflow) = Int64(clamping: status.f_bavail)
            .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        return overflow ? .max : bytes
    }

    private static func status(at path: String) -> statvfs? {
        var status = statvfs()
        let directory = (path as NSString).deletingLastPathComponent
        guard statvfs(path, &status) == 0 || statvfs(directory.isEmpty ? "." : directory, &status) == 0
        else { return nil }
        return status
    }

    /// Returns true if the path's file system has less than `least` bytes free. Blocks while the file system
    /// hangs.
    static func isExhausted(at path: String) -> Bool {
        guard let status = status(at: path) else { return false }
        // A read-only file system has no meaningful free space.
        guard UInt(status.f_flag) & UInt(ST_RDONLY) == 0 else { return false }
        // The comparison uses a division, because the product of these numbers overflows on a file system
        // without limits.
        return UInt(status.f_bavail) < least / max(1, UInt(status.f_frsize))
    }
}
