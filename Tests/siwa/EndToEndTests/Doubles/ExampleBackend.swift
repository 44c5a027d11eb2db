import Foundation
import NIOCore
import NIOHTTP1
import SiwaBinary
import StrictJSON
import TestSupport
import Testing

@testable import siwa_dev

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The backends of `docs/backends`, which `docs/integrate.md` shows.
enum ExampleBackend: String, CaseIterable, Sendable {
    case python, javascript, go, java, swift

    struct NotStarted: Error, CustomStringConvertible { let description: String }

    /// A user of the backend who has a password: "correct horse", hashed in few iterations so that tests are
    /// quick.
    static let passwordUser = (id: "usr_grace", name: "grace@example.com", password: "correct horse")
    private static let passwordUsers =
        "usr_grace:grace@example.com:1000:73616c74:"
        + "6e8453a042a842bdb62de0d3c870ec1241e90ec0ce4f2589ab5e87927122c1e5"

    /// Folder of the project.
    static let folder = ProjectFolder.root.appendingPathComponent("docs/backends")

    /// The files that the page shows or leads to.
    var files: [String] {
        switch self {
        case .python: ["app.py"]
        case .javascript: ["app.js", "users.js", "server.js"]
        case .go: ["app.go", "users.go"]
        case .java: ["App.java", "Users.java"]
        case .swift: ["App.swift", "Users.swift", "Server.swift"]
        }
    }

    /// The line of the page that starts the backend.
    var shownCommand: String {
        switch self {
        case .python: ".venv/bin/python docs/backends/python/app.py"
        case .javascript: "node docs/backends/javascript/app.js"
        case .go: "(cd docs/backends/go && go run .)"
        case .java: "java -cp .build-java App"
        case .swift: "swift run ExampleBackend"
        }
    }

    /// Runs the backend with `siwa dev`, for the block of a page with its address.
    func trial(
        of page: String,
        _ body: (_ script: String, DevelopmentProcess) async throws -> Void
    ) async throws {
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            try await run(at: system) { port in
                let script = try #require(try Self.lines(of: page))
                    .replacing("http://127.0.0.1:8000", with: "http://127.0.0.1:\(port)")
                try await body(script, system)
            }
        }
    }

    /// Runs the backend with `siwa dev`.
    func run(at system: DevelopmentProcess, _ body: (Int) async throws -> Void) async throws {
        try await run(siwa: system.service, secret: DevelopmentSettings.secret, in: system.directory, body)
    }

    /// The block of a page that begins with an address: with that of the backend, it plays the app.
    static func lines(of page: String, beginning: String = "BACKEND=") throws -> String? {
        let page = try ProjectFolder.text("docs/\(page)")
        guard let start = page.firstRange(of: "```sh\n\(beginning)") else { return nil }
        let rest = page[page.index(start.lowerBound, offsetBy: 6)...]
        return rest.firstRange(of: "\n```").map { String(rest[..<$0.lowerBound]) }
    }

    /// Runs the backend.
    ///
    /// - Parameters:
    ///   - webhookSecrets: Secrets of webhooks, which then replace the loop that reads the feed.
    ///   - fixed: Port of the backend; `nil` for a free port.
    func run<Result>(
        siwa: String, secret: String, webhookSecrets: String = "", port fixed: Int? = nil,
        in directory: TemporaryDirectory, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let port = try fixed ?? FreePort.find()
        let log = URL(fileURLWithPath: "\(directory.path)/backend.log")
        let process = try Self.start(
            try await command(in: directory),
            [
                "SIWA_URL": siwa, "SIWA_API_KEY": secret, "SIWA_CLIENT_ID": WholeSystem.clientID,
                "PORT": "\(port)",
                "DATABASE": "\(directory.path)/backend.sqlite", "PASSWORD_USERS": Self.passwordUsers,
                "SIWA_WEBHOOK_SECRETS": webhookSecrets,
            ], in: directory, log: log)
        // Some backends finish their long poll first, which takes up to half a minute.
        defer {
            _ = kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        while try await !Self.listens(port) {
            guard process.isRunning else { throw NotStarted(description: Self.text(of: log)) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await body(port)
    }

    /// The lines that a shell prints.
    static func paste(_ script: String, in directory: TemporaryDirectory) async throws -> [Substring] {
        let output = URL(fileURLWithPath: "\(directory.path)/pasted.txt")
        let shell = try start(["sh", "-c", script], [:], in: directory, log: output)
        while shell.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        return text(of: output).split(separator: "\n")
    }

    private func command(in directory: TemporaryDirectory) async throws -> [String] {
        let source = Self.folder.appendingPathComponent(rawValue).path
        let program = "\(directory.path)/backend"
        switch self {
        case .python:
            let python = ProjectFolder.root.appendingPathComponent(".build-python/bin/python").path
            return [python, "\(source)/app.py"]
        case .javascript: return ["node", "\(source)/app.js"]
        case .swift: return [try BuiltSiwa.neighbour(named: "ExampleBackend").path]
        case .go:
            try await compile(
                "find clients/go docs/backends/go -name go.mod -o -name '*.go' ! -name '*_test.go'",
                "cd docs/backends/go && go build -o \"$compiled.$$\" .", to: program, in: directory)
            return [program]
        case .java:
            try await compile(
                "find clients/java/src/main docs/backends/java -name '[A-Z]*.java'",
                "javac -J-XX:TieredStopAtLevel=1 -d \"$compiled.$$\" $sources", to: program, in: directory)
            // The tests are short, so the second compiler of Java costs more than it saves.
            return ["java", "-XX:TieredStopAtLevel=1", "-cp", program, "App"]
        }
    }

    /// Compiles the backend once for each content of its sources, because a compiler costs seconds at each
    /// start. Another test process can do the same at the same time, so the result is moved into place.
    private func compile(
        _ sources: String, _ compiler: String, to program: String, in directory: TemporaryDirectory
    ) async throws {
        let log = URL(fileURLWithPath: "\(directory.path)/compiler.log")
        let script = """
            mkdir -p .build/example-backends
            sources=$(\(sources) | sort)
            compiled=$PWD/.build/example-backends/\(rawValue)-$(cat $sources | cksum | tr ' ' -)
            [ -e "$compiled" ] || (\(compiler) && mv "$compiled.$$" "$compiled")
            ln -sfn "$compiled" '\(program)'
            """
        let shell = try Self.start(
            ["sh", "-ec", script], [:], in: directory, at: ProjectFolder.root.path, log: log)
        while shell.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        guard shell.terminationStatus == 0 else { throw NotStarted(description: Self.text(of: log)) }
    }

    /// Compiled packages of Go's standard library, which each test would compile again for half a minute.
    private static let goCache = ProjectFolder.root.appendingPathComponent(".build/go-cache").path

    /// Starts a program with its home directory in the directory of the test.
    private static func start(
        _ command: [String], _ variables: [String: String], in directory: TemporaryDirectory,
        at path: String? = nil, log: URL
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": directory.path,
            "TMPDIR": directory.path, "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": ProjectFolder.root.appendingPathComponent("clients/python").path,
            "GOCACHE": goCache, "GOFLAGS": "-buildvcs=false", "GOPROXY": "off",
        ].merging(variables) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: path ?? directory.path)
        process.standardInput = FileHandle.nullDevice
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        try process.launchAlone()
        return process
    }

    /// Returns true if a server listens on the port.
    private static func listens(_ port: Int) async throws -> Bool {
        let answer = try? await TestClient.send(
            .GET, "http://127.0.0.1:\(port)/me", headers: [("Connection", "close")], within: .seconds(5))
        return answer != nil
    }

    private static func text(of log: URL) -> String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
}
