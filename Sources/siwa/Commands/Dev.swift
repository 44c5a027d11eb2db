import AppleAccounts
import AppleEmulator
import ArgumentParser
import Foundation
import HTTPAPI
import Logging
import ServiceLifecycle

/// `siwa dev`
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service with a fake Apple beside it, and print what to try.",
        discussion: """
            Needs no Apple account, no network and no configuration: environment variables are not read. The database is \
            thrown away at the end unless --database names one. Whoever reaches the fake Apple can sign in as anybody, so \
            both listen on this machine only.
            """)

    @Option(help: "The service's port; 0 takes any.")
    var port = 8080

    @Option(help: "The fake Apple's port; 0 takes any.")
    var emulatorPort = 8081

    @Option(name: .customLong("client-id"), help: "The app's client IDs, its bundle ID first.")
    var clientIDs = ["com.example.app"]

    @Option(help: "A database to keep: sqlite:///absolute/path or sqlite://relative/path.")
    var database: String?

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard (0...65535).contains(port), (0...65535).contains(emulatorPort) else {
            throw ValidationError("A port is a number from 0 to 65535.")
        }
        if let database {
            do throws(DatabaseLocation.Refusal) { _ = try DatabaseLocation(url: database) } catch {
                throw ValidationError("--database takes sqlite:///absolute/path or sqlite://relative/path.")
            }
        }
    }

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-dev-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            try await run(in: directory)
        } catch {
            Complaint.write("siwa dev cannot go on: \(Complaint.words(for: error))")
            throw ExitCode.failure
        }
    }

    private func run(in directory: URL) async throws {
        let observation = ProcessObservation.ofProcess(level: logLevel)
        defer { observation.sink.flush() }
        var configuration = try EmulatorConfiguration(teamID: DevelopmentSettings.team, clientIDs: clientIDs)
        configuration.port = emulatorPort
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: .system, logger: observation.logger)
        let apple = ServiceGroup(services: [emulator], logger: observation.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await apple.run() }
            let applePort = try await emulator.port()
            let secret = DevelopmentSettings.secret
            let settings = try DevelopmentSettings(
                clientIDs: clientIDs, port: port, applePort: applePort, secret: secret,
                database: database ?? "sqlite://\(directory.path)/siwa.sqlite"
            ).settings()
            let service = try await ComposedService(settings: settings, observation: observation)
            group.addTask {
                // The service has the signals; the fake Apple ends after it.
                try await service.run()
                await apple.triggerGracefulShutdown()
            }
            let servicePort = try await service.boundPort()
            try emulator.state.setNotificationURL("http://127.0.0.1:\(servicePort)/v1/apple/notifications")
            await service.waitForKeys()
            let walkthrough = Walkthrough(
                servicePort: servicePort, applePort: applePort, secret: secret, clientID: clientIDs[0])
            // Unbuffered, so that it is there also when somebody reads it through a pipe.
            try FileHandle.standardOutput.write(contentsOf: Data(walkthrough.text.utf8))
            try await group.waitForAll()
        }
    }
}
