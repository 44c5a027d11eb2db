import Foundation

/// A shell script that notices the end of this process, also after a crash, and then cleans up.
///
/// The script is a process of its own with a pipe as its standard input. Only this process can write to the
/// pipe, so the pipe ends with this process.
public struct Watchdog: Sendable {
    /// Writing end of the pipe, which is never closed.
    private let pipe: Int32

    /// - Parameters:
    ///   - script: Script that waits for the end of its standard input, for example with `cat > /dev/null`.
    ///   - arguments: `$1` and so on.
    public init(_ script: String, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["/bin/sh", "-c", "trap '' INT HUP TERM\n\(script)", "watchdog"] + arguments
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.launchAlone()
        pipe = ends[1]
    }

    /// Lets the script clean up at once.
    public func release() {
        close(pipe)
    }
}
