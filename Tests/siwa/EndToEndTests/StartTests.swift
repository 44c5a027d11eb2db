import Encodings
import Foundation
import HTTPAPI
import TestSupport
import Testing

/// A start that fails, or is stopped before it has finished.
@Suite(.serialized) struct StartTests {
    /// The arguments of each command besides its ports.
    enum Command: String, CaseIterable {
        case dev, serve, emulate

        func arguments(port: Int, applePort: Int) -> [String] {
            switch self {
            case .dev: ["dev", "--port", "\(port)", "--emulator-port", "\(applePort)"]
            case .serve: ["serve"]
            case .emulate: ["emulate", "--port", "\(port)"]
            }
        }

        func variables(port: Int, in directory: TemporaryDirectory) -> [String: String] {
            let place = ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path]
            guard self == .serve else { return place }
            return place.merging([
                "SIWA_PORT": "\(port)", "APPLE_TEAM_ID": "A1B2C3D4E5", "APPLE_CLIENT_IDS": "com.example.app",
                "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash("siwa_start_test")))",
                // No server answers there: the fetch of the keys is running when the start fails.
                "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:1",
                "DATABASE_URL": "sqlite://\(directory.path)/\(UUID().uuidString).sqlite",
            ]) { $1 }
        }
    }

    /// A shutdown can cancel the fake Apple while it accepts the connection for the key set.
    @Test(arguments: Command.allCases)
    func `a port in use is named at every start`(command: Command) async throws {
        let taken = try SilentServer()
        for _ in 0..<(command == .dev ? 16 : 4) {
            try await Self.refusal(of: command, port: taken.port, applePort: 0, names: [taken.port])
        }
    }

    @Test func `two ports in use give the same error`() async throws {
        let (taken, takenApple) = (try SilentServer(), try SilentServer())
        for _ in 0..<4 {
            try await Self.refusal(
                of: .dev, port: 0, applePort: takenApple.port, names: [takenApple.port])
            try await Self.refusal(
                of: .dev, port: taken.port, applePort: takenApple.port,
                names: [taken.port, takenApple.port])
        }
    }

    /// - Parameter mark: Text in the log at which the signal is sent.
    @Test(arguments: ["", "Server started", "database migrated", "starting", "127.0.0.1"])
    func `SIGTERM during the start ends it, and leaves nothing behind`(mark: String) async throws {
        for command in Command.allCases {
            try await TemporaryDirectory.with { directory in
                let log = URL(fileURLWithPath: "\(directory.path)/log.txt")
                let process = try ServiceProcess.start(
                    command.arguments(port: 0, applePort: 0), command.variables(port: 0, in: directory),
                    in: directory, error: log)
                try await eventually {
                    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                    return text.contains(mark) || text.contains("listening") || mark.isEmpty
                }
                try await eventually {
                    // Repeatedly, because the process inherits an ignored signal from this one until it
                    // installs its own handler.
                    guard process.isRunning else { return true }
                    process.terminate()
                    return false
                }
                // Before it listens for signals the system ends it.
                let isKilled = process.terminationReason == .uncaughtSignal
                #expect(process.terminationStatus == (isKilled ? SIGTERM : 0))
                let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                #expect(!left.contains { $0.hasPrefix("siwa-dev-") })
            }
        }
    }

    #if os(Linux)
        /// A console that listens on a port of the system's choice would be open to every program of the machine.
        @Test func `without a port for the console the service listens on its own port alone`() async throws {
            try await ServiceProcess.with { service, _ in
                let ports = try service.listeningPorts()
                #expect(ports == [service.port])
            }
        }
    #endif

    private static func refusal(
        of command: Command, port: Int, applePort: Int, names ports: [Int]
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let log = URL(fileURLWithPath: "\(directory.path)/log.txt")
            let process = try ServiceProcess.start(
                command.arguments(port: port, applePort: applePort),
                command.variables(port: port, in: directory), in: directory, error: log)
            try await eventually { !process.isRunning }
            let text = try String(contentsOf: log, encoding: .utf8)
            #expect(process.terminationReason == .exit, "\(text)")
            #expect(process.terminationStatus == 1, "\(text)")
            let complaint = text.split(separator: "\n").last { !$0.hasPrefix("time=") } ?? ""
            #expect(ports.contains { complaint.contains("the address 127.0.0.1:\($0) is in use") }, "\(text)")
        }
    }
}

/// Effects of the signals of an operator and a service manager on a running service.
@Suite struct SignalTests {
    @Test func `SIGHUP, SIGUSR1 and SIGUSR2 are logged, and the service goes on`() async throws {
        try await ServiceProcess.with { service, _ in
            for (signal, name) in [(SIGHUP, "SIGHUP"), (SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2")] {
                // Repeatedly, because the service may not listen for signals yet. It ignores them then.
                try await eventually {
                    service.signal(signal)
                    return service.logText.contains("signal=\(name)")
                }
            }
            #expect(service.logText.contains("a signal was ignored: a restart reads the configuration again"))
            let backend = service.backend
            #expect(try await backend.get("/livez").status == 200)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a service that drains serves on, and says that it is not ready`(signal: Int32) async throws {
        try await TemporaryDirectory.with { directory in
            var variables = try ServiceProcess.variables(directory)
            variables["SIWA_DRAIN_SECONDS"] = "5"
            let service = try await ServiceProcess.serve(directory, variables)
            let backend = service.backend
            #expect(try await backend.get("/readyz").status == 200)
            service.signal(signal)
            try await eventually { try await backend.get("/readyz").code == "stopping" }
            #expect(try await backend.post("/v1/nonces").status == 201)
            #expect(try await backend.get("/livez").status == 200)
            #expect(await service.end() == 0)
            #expect(service.logText.contains("draining: requests are served"))
        }
    }

    @Test func `a service that cannot listen does not drain`() async throws {
        try await TemporaryDirectory.with { directory in
            let taken = try SilentServer()
            var variables = try ServiceProcess.variables(directory)
            variables["SIWA_DRAIN_SECONDS"] = "300"
            variables["SIWA_PORT"] = "\(taken.port)"
            await #expect(throws: ServiceProcess.EndedEarly.self) {
                try await ServiceProcess.serve(directory, variables)
            }
        }
    }

    @Test func `the service manager hears of readiness and of the shutdown`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "notify")
            let socket = try NotifySocket(path)
            var variables = try ServiceProcess.variables(directory)
            variables["NOTIFY_SOCKET"] = path
            let service = try await ServiceProcess.serve(directory, variables)
            try await eventually { socket.next()?.hasPrefix("READY=1\n") == true }
            #expect(await service.stop() == 0)
            #expect(socket.next()?.hasPrefix("STOPPING=1\n") == true)
            #expect(socket.next() == nil)
        }
    }

    @Test func `the health check says whether the service is ready`() async throws {
        try await TemporaryDirectory.with { directory in
            var variables = try ServiceProcess.variables(directory)
            variables["SIWA_DRAIN_SECONDS"] = "60"
            let service = try await ServiceProcess.serve(directory, variables)
            let url = "http://127.0.0.1:\(service.port)"
            #expect(try await Self.health(["--url", url], in: directory) == 0)
            // Without --url it asks the service of the configuration.
            variables["SIWA_PORT"] = "\(service.port)"
            #expect(try await Self.health([], variables, in: directory) == 0)
            service.signal(SIGTERM)
            let backend = service.backend
            try await eventually { try await backend.get("/readyz").code == "stopping" }
            #expect(try await Self.health(["--url", url], in: directory) == 1)
            await service.kill()
            #expect(try await Self.health(["--url", url], in: directory) == 1)
        }
    }

    private static func health(
        _ arguments: [String], _ variables: [String: String] = [:], in directory: TemporaryDirectory
    ) async throws -> Int32 {
        let process = try ServiceProcess.start(["healthcheck"] + arguments, variables, in: directory)
        while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        return process.terminationStatus
    }
}

/// A new process reads what the previous one wrote. Optimized code once freed the text of a stored key before
/// it was parsed, so that the fake Apple failed at every second start: these tests are for the release build
/// (`SIWA_BINARY`).
@Suite struct RestartTests {
    @Test func `the fake Apple starts again on its state file, 10 times`() async throws {
        try await TemporaryDirectory.with { directory in
            let apple = [
                "emulate", "--port", "0", "--state-file", "apple.json", "--signing-key-file",
                "AuthKey_ABC123DEFG.p8",
            ]
            for round in 1...10 {
                let log = try await Self.run(apple, until: "listening on 127.0.0.1:", in: directory)
                #expect(!log.contains("The fake Apple has failed"), "start \(round): \(log)")
            }
        }
    }

    @Test func `siwa dev starts again on its database, 5 times`() async throws {
        try await TemporaryDirectory.with { directory in
            let dev = ["dev", "--port", "0", "--emulator-port", "0", "--database", "sqlite://dev.sqlite"]
            for round in 1...5 {
                let log = try await Self.run(dev, until: "Ctrl-C ends all", in: directory)
                #expect(!log.contains("siwa dev has failed"), "start \(round): \(log)")
            }
        }
    }

    /// Starts the command, waits for a text in its output, stops it, and returns the whole output.
    private static func run(
        _ arguments: [String], until mark: String, in directory: TemporaryDirectory
    ) async throws -> String {
        let output = URL(fileURLWithPath: "\(directory.path)/output-\(UUID().uuidString)")
        let error = URL(fileURLWithPath: "\(directory.path)/error-\(UUID().uuidString)")
        let process = try ServiceProcess.start(
            arguments, ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: output,
            error: error)
        defer { if process.isRunning { process.terminate() } }
        func text() throws -> String {
            try String(contentsOf: output, encoding: .utf8) + String(contentsOf: error, encoding: .utf8)
        }
        try await eventually { try text().contains(mark) || !process.isRunning }
        process.terminate()
        try await eventually { !process.isRunning }
        return try text()
    }
}
