#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A write transaction of another program, as SQLite sees it: the lock on byte 120 of the shared memory file
/// (WAL-mode file format, §2.3.1).
struct ForeignTransaction: ~Copyable {
    struct Refused: Error {}

    private let descriptor: Int32

    init(on path: String) throws {
        descriptor = open(path + "-shm", O_RDWR)
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        guard descriptor >= 0, fcntl(descriptor, F_SETLK, &lock) == 0 else { throw Refused() }
    }

    consuming func end() {}

    deinit { close(descriptor) }
}
