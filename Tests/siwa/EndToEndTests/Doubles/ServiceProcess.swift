import Cryptography
import Encodings
import Foundation
import SiwaBinary
import StrictJSON
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
    struct EndedEarly: Error, CustomStringConvertible { let description: String }

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

    /// The API as the app's backend calls it.
    var backend: Backend { Backend(port: port) }
    var url: String { "http://127.0.0.1:\(port)" }

    static func sealingKey() -> String { "test=\(Base64.encode(SecureRandom.bytes(count: 32)))" }

    /// Settings with which a service signs tokens, and signs users in on the web.
    static func signing() -> [String: String] {
        [
            "SIWA_ENV": "development", "SIWA_SEALING_KEYS": sealingKey(),
            "SIWA_PUBLIC_URL": "http://127.0.0.1:8080",
            "SIWA_WEB_REDIRECT_URL": "http://127.0.0.1:8080/health",
            "APPLE_CLIENT_IDS": "\(TokenMint.clientID),com.example.web",
        ]
    }

    /// Settings of a service that has Apple's keys in a file, and its database in the directory.
    ///
    /// - Parameter yaml: The text of its configuration file.
    static func variables(
        _ directory: TemporaryDirectory, _ changes: [String: String] = [:], yaml: String? = nil
    ) throws -> [String: String] {
        var variables = [
            "APPLE_TEAM_ID": "A1B2C3D4E5", "APPLE_CLIENT_IDS": TokenMint.clientID,
            "APPLE_KEYS_FILE": try directory.write(
                String(decoding: TokenMint.shared.keySet, as: UTF8.self), to: "keys.json"),
            "SIWA_API_KEY_HASHES": Backend.secretHash,
            "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
        ]
        if let yaml {
            variables["SIWA_CONFIG"] = try directory.write(yaml, to: "siwa.yaml")
            // Either the environment or the file has the apps.
            if yaml.contains("teams:") {
                for name in ["TEAM_ID", "CLIENT_IDS"] { variables["APPLE_\(name)"] = nil }
            }
        }
        return variables.merging(changes) { $1 }
    }

    /// Runs a service with these variables, and stops it gracefully.
    static func with<Result>(
        _ changes: [String: String] = [:], yaml: String? = nil, program: String = "siwa",
        _ body: (ServiceProcess, TemporaryDirectory) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            let service = try await serve(
                directory, variables(directory, changes, yaml: yaml), program: program)
            let result = try await body(service, directory)
            #expect(await service.stop() == 0)
            return result
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

    func signal(_ signal: Int32) { _ = systemKill(process.processIdentifier, signal) }

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

    /// The TCP ports on which the process listens with IPv4, as Linux lists them.
    func listeningPorts() throws -> [Int] {
        let directory = "/proc/\(process.processIdentifier)"
        let sockets = Set(
            try FileManager.default.contentsOfDirectory(atPath: "\(directory)/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/fd/\($0)")
            })
        return try String(contentsOfFile: "\(directory)/net/tcp", encoding: .utf8).split(separator: "\n")
            .compactMap {
                // Number, local address, remote address, state (0A listens), four columns, timeout, inode.
                let columns = $0.split(separator: " ")
                guard columns.count > 9, columns[3] == "0A", sockets.contains("socket:[\(columns[9])]") else {
                    return nil
                }
                return columns[1].split(separator: ":").last.flatMap { Int($0, radix: 16) }
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
private func systemKill(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }

/// Processes of the service on one database, some of which are down.
final class Replicas: Sendable {
    let count: Int
    private let running: Mutex<[ServiceProcess?]>
    private let serve: @Sendable (Int) async throws -> ServiceProcess

    /// Starts all at once, as in a deployment: each tries to create the tables.
    init(_ count: Int, _ serve: @escaping @Sendable (Int) async throws -> ServiceProcess) async throws {
        (self.count, self.serve) = (count, serve)
        running = Mutex(Array(repeating: nil, count: count))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await self.start(number) } }
            try await group.waitForAll()
        }
    }

    /// Runs replicas on an empty database, and kills the remaining ones at the end.
    static func with<Result>(
        _ count: Int = 3, database url: String, _ body: (Replicas) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            let variables = try ServiceProcess.variables(directory, ["DATABASE_URL": url])
            let replicas = try await Replicas(count) { _ in
                // Again when the process ends because the database is down, as an orchestrator does.
                for _ in 1..<10 {
                    do {
                        return try await ServiceProcess.serve(directory, variables)
                    } catch is ServiceProcess.EndedEarly {}
                }
                return try await ServiceProcess.serve(directory, variables)
            }
            let result = await Swift.Result { try await body(replicas) }
            for number in 0..<count { await replicas.kill(number) }
            return try result.get()
        }
    }

    /// `nil` while the replica is down.
    subscript(number: Int) -> ServiceProcess? { running.withLock { $0[number] } }

    /// The running replicas, in any order.
    var all: [ServiceProcess] { running.withLock { $0.compactMap { $0 } }.shuffled() }

    func start(_ number: Int) async throws {
        let service = try await serve(number)
        running.withLock { $0[number] = service }
    }

    /// Takes a replica away, which goes on.
    func remove(_ number: Int) -> ServiceProcess? {
        running.withLock { running in
            defer { running[number] = nil }
            return running[number]
        }
    }

    func bringBack(_ service: ServiceProcess, _ number: Int) { running.withLock { $0[number] = service } }

    func kill(_ number: Int) async { await remove(number)?.kill() }

    /// Stops all gracefully, and returns whether each has ended with status 0.
    func stop() async -> Bool { await all.asyncMap { await $0.stop() }.allSatisfy { $0 == 0 } }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
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
    struct NotFound: Error, CustomStringConvertible { let description: String }

    /// Runs the program to its end, in `directory`.
    static func run(
        _ name: String, _ arguments: [String], input: String = "", _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        try await ProgramRun.of(
            executable(name), arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path].merging(variables) { $1 },
            in: directory.path,
            input: URL(fileURLWithPath: try directory.write(input, to: "\(UUID().uuidString).in")))
    }

    /// Runs SQL on the file of a service in the directory.
    @discardableResult
    static func sqlite(
        _ sql: String, in directory: TemporaryDirectory, _ options: String...
    ) async throws -> String {
        let run = try await run(
            "sqlite3",
            ["-batch", "-bail", "-cmd", ".timeout 5000"] + options + [
                directory.path(of: "siwa.sqlite"), sql,
            ], in: directory)
        guard run.status == 0 else { throw ObservedDatabase.Refused(description: run.output) }
        return run.output.trimmingCharacters(in: .newlines)
    }

    static func executable(_ name: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init)
        for folder in folders + ["/usr/sbin", ProjectFolder.root.appending(path: ".build/tools").path] {
            let candidate = URL(fileURLWithPath: "\(folder)/\(name)")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        throw NotFound(
            description: "\(name) is neither on PATH nor in .build/tools; run scripts/install-tools")
    }
}

/// Third-party tools, from the virtual environment of `scripts/python-packages`.
enum PythonTools {
    struct Missing: Error, CustomStringConvertible { let description: String }

    /// Runs a tool in a separate directory until it ends, because most tools leave files.
    static func run(
        _ name: String, _ arguments: [String], _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let folder = ProjectFolder.root.appending(path: ".build-python/bin")
        let tool = folder.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            throw Missing(description: "there is no \(name) in .build-python; run scripts/python-packages")
        }
        let environment = [
            "PATH": "\(folder.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
            "LANG": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
        ].merging(variables) { $1 }
        return try await ProgramRun.of(tool, arguments, environment: environment, in: directory.path)
    }

    /// The path of a file in `Clients/`.
    static func client(_ name: String) -> String {
        ProjectFolder.root.appending(path: "Tests/siwa/EndToEndTests/Clients/\(name)").path
    }

    /// Runs a program of `Clients/`, which must succeed and say that it is done.
    ///
    /// - Parameter given: Its argument, as JSON.
    static func runClient(
        _ name: String, given: JSONValue, _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws {
        let run = try await run(
            "python", [client("\(name).py"), given.serializedText], variables, in: directory)
        #expect(run.status == 0 && run.output.contains("done"), "\(run.output)")
    }
}

extension ProjectFolder {
    /// The text of a file of the project.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}

extension ProgramRun {
    /// The program has failed, and says why.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: `Failed`, unless the program ended with status 0.
    @discardableResult
    func checked() throws -> ProgramRun {
        guard status == 0 else { throw Failed(description: "status \(status): \(output)") }
        return self
    }
}

extension TemporaryDirectory {
    /// The text of a file in the directory.
    func text(of name: String) throws -> String {
        try String(contentsOfFile: path(of: name), encoding: .utf8)
    }
}
