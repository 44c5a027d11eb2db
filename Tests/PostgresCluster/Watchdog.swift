import Foundation

/// Ends a server and takes its directory away when this process is gone, however it went.
///
/// It is a process of its own that reads from a pipe. The pipe ends with the last process that can write to
/// it, and that is this one alone.
struct Watchdog: Sendable {
    private static let script = """
        trap '' INT HUP TERM
        cat > /dev/null
        [ -f "$1/data/postmaster.pid" ] && kill -QUIT "$(head -1 "$1/data/postmaster.pid")"
        sleep 0.2
        rm -rf "$1"
        """

    /// Must be kept open, and is never closed.
    private let pipe: Int32

    init(directory: String) throws {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["/bin/sh", "-c", Self.script, "watchdog", directory]
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        pipe = ends[1]
    }

    /// Ends it at once: server and directory go.
    func release() {
        close(pipe)
    }
}
