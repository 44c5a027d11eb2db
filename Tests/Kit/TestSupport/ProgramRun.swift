public import Foundation
import Synchronization

/// A finished run of a program.
public struct ProgramRun: Sendable {
    public let status: Int32
    /// The standard error output, and the standard output unless it was dropped.
    public let output: String

    /// Runs a program for at most 400 seconds, because a hanging test would take its whole lane with it.
    ///
    /// - Parameters:
    ///   - environment: Replaces this process's environment.
    ///   - directory: The working directory.
    ///   - input: The file for standard input.
    ///   - keepsOutput: True if `output` should include standard output.
    public static func of(
        _ program: URL, _ arguments: [String], environment: [String: String]? = nil,
        in directory: String? = nil, input: URL? = nil, keepsOutput: Bool = true
    ) async throws -> ProgramRun {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let environment { process.environment = environment }
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? .nullDevice
        // The output goes to a file, because the program would block once an unread pipe is full.
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("siwa-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = keepsOutput ? handle : FileHandle.nullDevice
        process.standardError = handle
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.launchAlone()
        let bound = Task {
            try await Task.sleep(for: .seconds(400))
            process.terminate()
        }
        defer { bound.cancel() }
        await withTaskCancellationHandler {
            for await _ in ends {}
        } onCancel: {
            process.terminate()
        }
        // The stream also ends if this task is cancelled.
        guard !process.isRunning else { throw CancellationError() }
        return ProgramRun(
            status: process.terminationStatus, output: try String(contentsOf: log, encoding: .utf8))
    }

    /// Runs a program found on the `PATH`.
    public static func named(_ name: String, _ arguments: [String]) async throws -> ProgramRun {
        try await of(URL(fileURLWithPath: "/usr/bin/env"), [name] + arguments)
    }
}

/// Allows one launch at a time.
private let launches = Mutex(())

extension Process {
    /// Starts the program. All tests must use this instead of `run()`.
    ///
    /// Foundation notices the end of a program by a socket that closes with it, but it opens this socket
    /// without `FD_CLOEXEC`, so a program that another thread starts at the same moment inherits it.
    /// Foundation then believes that the first program runs until the second has ended, and a test that stops
    /// the first one waits forever.
    ///
    /// The program also starts without blocked signals. Dispatch threads block all signals, and a program
    /// inherits its thread's signal mask, so one that never changes the mask, such as PgBouncer, would not
    /// receive SIGTERM.
    public func launchAlone() throws {
        try launches.withLock { _ in
            var (none, own) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &own)
            defer { pthread_sigmask(SIG_SETMASK, &own, nil) }
            try run()
        }
    }
}

/// A shell script that notices the end of this process, even by a crash, and then cleans up.
///
/// The script is a separate process that reads its standard input from a pipe. Only this process can write to
/// the pipe, so the pipe closes when this process ends.
public struct Watchdog: Sendable {
    /// The write end of the pipe. It is never closed explicitly.
    private let pipe: Int32

    /// - Parameters:
    ///   - script: A script that waits for the end of its standard input, for example with `cat > /dev/null`.
    ///   - arguments: The arguments `$1` and so on.
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

    /// Makes the script clean up at once.
    public func release() {
        close(pipe)
    }
}

/// A port of this machine that had no listener a moment ago, for addresses that must be known before the
/// server starts.
public enum FreePort {
    /// Ports below the system's ephemeral range, so that no other connection takes the port before the server
    /// does, even in another test process.
    private static let ports = 12_000..<32_000
    /// Ports that were already given out. Their servers may be stopped at the moment, and start again later.
    private static let given = Mutex<Set<Int>>([])

    /// Returns a free port, and never the same one twice.
    public static func find() throws -> Int {
        for _ in 0..<100 {
            guard let socket = try? LocalSocket(port: .random(in: ports)) else { continue }
            let port = socket.port
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
        return try LocalSocket().port
    }
}

/// A port that refuses every connection. It stays in use, so that no other test's server can get it.
public final class ClosedPort: Sendable {
    private let socket: LocalSocket

    public var port: Int { socket.port }

    public init() throws { socket = try LocalSocket() }
}
