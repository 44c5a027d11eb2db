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
            thrown away at the end unless --database names one; then the fake Apple's state is kept beside it. What takes a \
            day at Apple takes --check-interval here. Whoever reaches the fake Apple can sign in as anybody, so \
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

    @Option(help: "How often held refresh tokens are checked, in seconds. At Apple it is once a day.")
    var checkInterval = 5

    @Option(
        help:
            "Where sign-in on the web hands its result over to your site; a page of the fake Apple when absent."
    )
    var webRedirectURL: String?

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard (0...65535).contains(port), (0...65535).contains(emulatorPort) else {
            throw ValidationError("A port is a number from 0 to 65535.")
        }
        guard (1...86_400).contains(checkInterval) else {
            throw ValidationError("--check-interval takes 1 to 86400 seconds.")
        }
        if let database {
            guard case .sqlite = try? DatabaseLocation(url: database) else {
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
        configuration.stateFile = try stateFile
        // A little less than the service waits, so that no difference between two clocks makes it come too soon.
        configuration.refreshInterval = Int64(checkInterval) * 9 / 10
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: .system, logger: observation.logger)
        let apple = ServiceGroup(services: [emulator], logger: observation.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await apple.run() }
            let applePort = try await emulator.port()
            let secret = DevelopmentSettings.secret
            let settings = try DevelopmentSettings(
                clientIDs: clientIDs, port: port, applePort: applePort, secret: secret,
                database: database ?? "sqlite://\(directory.path)/siwa.sqlite",
                signingKey: try Self.signingKey(of: emulator), checkInterval: .seconds(checkInterval),
                webRedirectURL: webRedirectURL ?? "http://127.0.0.1:\(applePort)/site"
            ).settings()
            let service = try await ComposedService(settings: settings, observation: observation)
            group.addTask {
                // The service has the signals; the fake Apple ends after it.
                try await service.run()
                await apple.triggerGracefulShutdown()
            }
            let servicePort = try await service.boundPort()
            try emulator.state.setRedirectURIs(
                ["127.0.0.1", "localhost"].map { "http://\($0):\(servicePort)/v1/web/callback" },
                of: clientIDs[0])
            try emulator.state.setNotificationURL("http://127.0.0.1:\(servicePort)/v1/apple/notifications")
            await service.waitForKeys()
            let walkthrough = Walkthrough(
                servicePort: servicePort, applePort: applePort, secret: secret, clientID: clientIDs[0])
            // Unbuffered, so that it is there also when somebody reads it through a pipe.
            try FileHandle.standardOutput.write(contentsOf: Data(walkthrough.text.utf8))
            try await group.waitForAll()
        }
    }

    /// Beside a database that is kept: its refresh tokens must be good tomorrow, too.
    private var stateFile: String? {
        get throws {
            guard let database, case .sqlite(let path) = try DatabaseLocation(url: database) else {
                return nil
            }
            return "\(path)-fake-apple"
        }
    }

    /// The key that the fake Apple had in an earlier run, or a new one.
    private static func signingKey(of emulator: EmulatedApple) throws -> ClientKey {
        let team = DevelopmentSettings.team
        if let old = emulator.state.clientKeys.last(where: { $0.teamID == team && $0.privateKeyPEM != nil }) {
            return old
        }
        let key = try ClientKey.generate(teamID: team)
        try emulator.state.addClientKey(key)
        return key
    }
}
