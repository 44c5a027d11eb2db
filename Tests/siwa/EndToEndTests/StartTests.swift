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
