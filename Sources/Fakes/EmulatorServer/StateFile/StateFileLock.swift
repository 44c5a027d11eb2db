import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Prevents a second emulator from using the same state file. Otherwise both would write their whole state,
/// and the later write would remove the other emulator's users. The system releases the lock when the
/// process ends, even after a crash.
///
/// The lock has a separate file, because each write replaces the state file.
package final class StateFileLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Acquires the lock. Throws `.stateFileUnwritable` while another process, or another emulator in this
    /// process, holds it.
    init(beside path: String) throws(EmulatorError) {
        let descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw EmulatorError(.stateFileUnwritable, detail: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw EmulatorError(
                .stateFileUnwritable,
                detail:
                    "\(path) belongs to another emulator that is running; stop it, or name another file")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    package func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            close(open)
            descriptor = nil
        }
    }
}
