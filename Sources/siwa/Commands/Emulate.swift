import AppleEmulator
import ArgumentParser
import HTTPAPI
import Logging
import ServiceLifecycle
import UnixSignals

/// `siwa emulate`
struct Emulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the fake Apple alone.",
        discussion: """
            For a service that runs somewhere else, with SIWA_ENV=development and APPLE_BASE_URL naming this. Whoever \
            reaches the fake Apple can sign in as anybody in a service that trusts its keys: give it a network of its own \
            before you give it a --host.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 takes any.")
    var port = 8081

    @Option(name: .customLong("team-id"), help: "The Apple team whose app people sign in to.")
    var teamID = DevelopmentSettings.team

    @Option(name: .customLong("client-id"), help: "The app's client IDs, its bundle ID first.")
    var clientIDs = ["com.example.app"]

    @Option(help: "Where notifications go.")
    var notificationURL: String?

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
    }

    func run() async throws {
        let observation = ProcessObservation.ofProcess(level: logLevel)
        defer { observation.sink.flush() }
        do {
            var configuration = try EmulatorConfiguration(teamID: teamID, clientIDs: clientIDs)
            (configuration.host, configuration.port) = (host, port)
            configuration.notificationURL = notificationURL
            let emulator = try await EmulatedApple(
                configuration: configuration, clock: .system, logger: observation.logger)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [observation.sink, emulator], gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: observation.logger))
            try await group.run()
        } catch {
            Complaint.write("The fake Apple cannot go on: \(Complaint.words(for: error))")
            throw ExitCode.failure
        }
    }
}
