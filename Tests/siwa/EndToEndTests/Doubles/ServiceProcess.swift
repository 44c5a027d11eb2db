import Foundation
import SiwaBinary
import Synchronization
import TestSupport
import Testing
import TokenMint

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The built `siwa` as a separate process that can be stopped or killed.
final class ServiceProcess: Sendable {
    struct EndedEarly: Error, CustomStringConvertible {
        let description: String
    }

    let port: Int
    private let process: Process
    private let log: URL

    private init(_ process: Process, port: Int, log: URL) {
        (self.process, self.port, self.log) = (process, port, log)
    }

    deinit {
        // A failed test must not leave the process running.
        if process.isRunning { _ = systemKill(process.processIdentifier, SIGKILL) }
    }

    /// Starts `siwa serve` and returns when it listens. Throws if it does not within two minutes.
    ///
    /// - Parameter program: siwa-dev for a service that trusts the roots of the fake Apple.
    static func serve(
        _ directory: TemporaryDirectory, _ variables: [String: String], program: String = "siwa"
    ) async throws -> ServiceProcess {
        let log = URL(fileURLWithPath: "\(directory.path)/\(UUID().uuidString).log")
        let process = try start(
            ["serve"], ["SIWA_PORT": "0"].merging(variables) { $1 }, in: directory, program: program,
            error: log)
        let mark = "listening on 127.0.0.1:"
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            // The console has a port of its own. The last line may be half written.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let line = lines.first { $0.contains(mark) && !$0.contains("server=console") }
            if let line, let range = line.firstRange(of: mark),
                let port = Int(line[range.upperBound...].prefix { $0.isNumber })
            {
                return ServiceProcess(process, port: port, log: log)
            }
            guard process.isRunning else { throw EndedEarly(description: text) }
            guard ContinuousClock.now < end else {
                _ = systemKill(process.processIdentifier, SIGKILL)
                throw EndedEarly(description: "not listening after two minutes: \(text)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Starts the command; standard output goes to `output`, or is discarded.
    static func start(
        _ arguments: [String], _ variables: [String: String], in directory: TemporaryDirectory,
        program: String = "siwa", output: URL? = nil, error: URL? = nil
    ) throws -> Process {
        let process = Process()
        process.executableURL = try BuiltSiwa.url(of: program)
        process.arguments = arguments
        process.environment = variables
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try handle(output)
        process.standardError = try handle(error, isLog: true)
        try process.launchAlone()
        return process
    }

    /// Kills the process, like a power failure.
    func kill() async {
        _ = systemKill(process.processIdentifier, SIGKILL)
        await end()
    }

    /// Holds the process up, like a machine that pages or a container that is paused. Its connections stay open.
    func freeze() { _ = systemKill(process.processIdentifier, SIGSTOP) }

    /// Lets a frozen process run on.
    func thaw() { _ = systemKill(process.processIdentifier, SIGCONT) }

    /// Stops the process gracefully, and returns its status.
    func stop() async -> Int32 { await Self.stop(process) }

    /// Runs the body, and then stops the process, also after an error.
    static func stopping<Result>(_ process: Process, after body: () async throws -> Result) async throws
        -> Result
    {
        do {
            let result = try await body()
            await stop(process)
            return result
        } catch {
            await stop(process)
            throw error
        }
    }

    /// Stops the process gracefully, and returns its status. A process that does not end within 90 seconds is killed, and
    /// is an issue of the test: a test that hangs would take all of its lane with it.
    ///
    /// Sends the signal every 5 seconds, because a new process inherits an ignored signal from this one until it
    /// installs its own handler.
    @discardableResult
    static func stop(_ process: Process) async -> Int32 {
        let clock = ContinuousClock()
        let start = clock.now
        var next = start
        var isKilled = false
        while process.isRunning {
            let now = clock.now
            if now - start > .seconds(90), !isKilled {
                Issue.record("a process has not ended 90 seconds after SIGTERM")
                _ = systemKill(process.processIdentifier, SIGKILL)
                isKilled = true
            } else if now >= next, !isKilled {
                process.terminate()
                next = now + .seconds(5)
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return process.terminationStatus
    }

    func signal(_ signal: Int32) {
        _ = systemKill(process.processIdentifier, signal)
    }

    /// The process has ended, or this is not Linux.
    struct NoMemoryFigure: Error {}

    /// Resident memory in megabytes, as Linux reports it.
    func residentMegabytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let kilobytes else { throw NoMemoryFigure() }
        return kilobytes / 1024
    }

    /// The processor time that all threads have used so far, as Linux counts it. The time of a waiting thread
    /// is exact to the nanosecond.
    func processorNanoseconds() throws -> Int {
        let tasks = "/proc/\(process.processIdentifier)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
            // A thread can end meanwhile.
            let line = try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)
            return sum + (line?.split(separator: " ").first.flatMap { Int($0) } ?? 0)
        }
    }

    var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// Waits until the process has ended, and returns its status.
    @discardableResult
    func end() async -> Int32 {
        while process.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
        return process.terminationStatus
    }

    private static func handle(_ url: URL?, isLog: Bool = false) throws -> FileHandle {
        guard let url else { return .nullDevice }
        if isLog {
            try KeptLogs.makeFile(at: url)
        } else {
            _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        }
        return try FileHandle(forWritingTo: url)
    }
}

/// Calls the system's function, which the method of the same name hides in the class.
private func systemKill(_ process: pid_t, _ signal: Int32) -> Int32 {
    kill(process, signal)
}

/// The section `oauth` of a configuration whose test needs a client and does not use it.
enum OAuthSection {
    /// One line, so that it can stand in a text with any indentation.
    static let phone =
        "oauth: {clients: [{id: phone, kind: native, app: \(TokenMint.clientID), name: Phone, platform: ios, "
        + "scopes: [openid], redirect_uris: [\"com.example.app:/back\"]}]}"
}

/// A program of an operator: promtool, nginx, sqlite3. `scripts/test` installs the programs.
enum OperatorTool {
    struct NotFound: Error, CustomStringConvertible {
        let description: String
    }

    /// Root folder of the project.
    static let root = PythonTools.root

    /// Runs the program to its end, in `directory`.
    static func run(
        _ name: String, _ arguments: [String], input: String = "", _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> (status: Int32, output: String) {
        let mark = UUID().uuidString
        let (inputPath, outputPath) = ("\(directory.path)/\(mark).in", "\(directory.path)/\(mark).out")
        try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        _ = FileManager.default.createFile(atPath: outputPath, contents: nil)
        let process = Process()
        process.executableURL = try executable(name)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path].merging(variables) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardInput = FileHandle(forReadingAtPath: inputPath)
        process.standardOutput = FileHandle(forWritingAtPath: outputPath)
        process.standardError = process.standardOutput
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.launchAlone()
        for await _ in ends {}
        return (
            process.terminationStatus,
            try String(contentsOf: URL(fileURLWithPath: outputPath), encoding: .utf8)
        )
    }

    static func executable(_ name: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init)
        for folder in folders + ["/usr/sbin", root.appendingPathComponent(".build/tools").path] {
            let candidate = URL(fileURLWithPath: "\(folder)/\(name)")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        throw NotFound(
            description: "\(name) is neither on PATH nor in .build/tools; run scripts/install-tools")
    }
}

/// Third-party tools, from the virtual environment of `scripts/python-packages`.
enum PythonTools {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// Root folder of the project.
    static let root = ProjectFolder.root

    /// Runs a tool in a separate directory until it ends, because most tools leave files.
    static func run(
        _ name: String, _ arguments: [String], _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let folder = root.appendingPathComponent(".build-python/bin")
        let tool = folder.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            throw Missing(description: "there is no \(name) in .build-python; run scripts/python-packages")
        }
        let environment = [
            "PATH": "\(folder.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
            "LANG": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
        ].merging(variables) { $1 }
        return try await ProgramRun.of(tool, arguments, environment: environment, in: directory.path)
    }
}
