import AppleEmulator
import ArgumentParser
import HTTPAPI
import Logging
import ServiceLifecycle
import UnixSignals

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

    @Option(
        name: .customLong("client-id"),
        help: "The app's client IDs: its bundle ID, then Services IDs, for which people sign in on the web.")
    var clientIDs = ["com.example.app", "com.example.web"]

    @Option(
        name: .customLong("allowed-host"),
        help: "A name besides this machine's under which both answer, that of a tunnel say.")
    var allowedHosts: [String] = []

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
        let observation = ProcessObservation.ofProcess(level: logLevel)
        defer { observation.sink.flush() }
        do {
            let emulator = try await EmulatedApple(
                configuration: emulatorConfiguration, clock: .system, logger: observation.logger)
            let service = DevelopmentService(emulator: emulator, observation: observation, options: options)
            try await group(of: emulator, and: service, logger: observation.logger).run()
        } catch {
            Complaint.write("siwa dev cannot go on: \(Complaint.words(for: error))")
            throw ExitCode.failure
        }
    }

    /// The service ends before the fake Apple, also when one of them fails: what it has begun there comes to its end.
    private func group(
        of emulator: EmulatedApple, and service: DevelopmentService, logger: Logger
    ) -> ServiceGroup {
        let services: [any Service] = [emulator, service]
        return ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { service in
                    ServiceGroupConfiguration.ServiceConfiguration(
                        service: service, failureTerminationBehavior: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    }

    private var emulatorConfiguration: EmulatorConfiguration {
        get throws {
            var configuration = try EmulatorConfiguration(
                teamID: DevelopmentSettings.team, clientIDs: clientIDs)
            (configuration.port, configuration.hostNames) = (emulatorPort, allowedHosts)
            configuration.stateFile = try stateFile
            // A little less than the service waits, so that no difference between two clocks makes it come too soon.
            configuration.refreshInterval = Int64(checkInterval) * 9 / 10
            return configuration
        }
    }

    private var options: DevelopmentService.Options {
        DevelopmentService.Options(
            clientIDs: clientIDs, port: port, database: database, checkInterval: .seconds(checkInterval),
            webRedirectURL: webRedirectURL, allowedHosts: allowedHosts)
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
}
