import Foundation

/// A shell script that sees the end of this process, however it comes, and then clears up.
///
/// It is a process of its own with a pipe as its standard input. The pipe ends with the last process that can
/// write to it, and that is this one alone.
public struct Watchdog: Sendable {
    /// Must be kept open, and is never closed.
    private let pipe: Int32

    /// - Parameters:
    ///   - script: Waits for the end of its standard input by `cat > /dev/null`, for example.
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
        try process.run()
        pipe = ends[1]
    }

    /// Lets the script clear up at once.
    public func release() {
        close(pipe)
    }
}
