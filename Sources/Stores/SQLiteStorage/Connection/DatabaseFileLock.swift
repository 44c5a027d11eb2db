import AppleAccounts
import Foundation
import Synchronization

/// Keeps a second process of the service away from a database file. The system releases the lock when the
/// process ends, also when it crashes or is killed.
///
/// The lock has a file of its own, because closing any descriptor of the database file would drop SQLite's
/// own locks.
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
