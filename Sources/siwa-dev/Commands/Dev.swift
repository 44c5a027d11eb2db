import AppAttestation
import AppleEmulator
import ArgumentParser
import Composition
import EmulatorServer
import GoogleEmulator
import HTTPAPI
import Logging
import ReceiverEmulator
import ServiceLifecycle
import UnixSignals

/// The `siwa dev` command.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: DevelopmentCommand.dev.abstract,
        discussion: """
            Needs no Apple account, no network and no configuration: environment variables are not read. The \
            database is temporary unless --database names one; then the fake Apple's state is stored beside \
            it. Daily work runs every --check-interval instead. Every client that can reach the fake Apple \
            can sign in as any user, so all servers listen on this machine only, unless --host names another address.

            Two receivers of events run beside it: a webhook, and security event tokens.

            The fake Google, the OAuth clients and the receiver of tokens need a --port that is not 0, and two client IDs.
            """)

    @Option(
        help: "The address of all servers: 0.0.0.0 in a container, whose ports are open to this machine only."
    )
    var host = "127.0.0.1"

    @Option(help: "The service's port; 0 chooses a free one.")
    var port = 8080

    @Option(help: "The fake Apple's port; 0 chooses a free one.")
    var emulatorPort = 8081

    @Option(
        help: """
            The fake Google's port; 0 chooses a free one. Default: 8082, or a free one when --port or \
            --emulator-port is not the usual one.
            """)
    var googlePort: Int?

    @Option(
        help: """
            The port of the receivers of events; 0 chooses a free one. Default: 8083, or a free one when --port \
            or --emulator-port is not the usual one.
            """)
    var receiverPort: Int?

    @Option(
        name: .customLong("client-id"),
        help: "The app's client IDs: its bundle ID, then the Services IDs for sign-in on the web.")
    var clientIDs = ["com.example.app", "com.example.web"]

    @Option(
        name: .customLong("allowed-host"),
        help: "An additional host name for all servers, for example that of a tunnel.")
    var allowedHosts: [String] = []

    @Option(help: "A YAML file with people for the fake Apple.")
    var seed: String?

    @Option(help: "A permanent database: sqlite:///absolute/path or sqlite://relative/path.")
    var database: String?

    @Option(help: "How the app's proofs of App Attest are judged: off, monitored or enforced.")
    var appCheck = AppCheckMode.monitored

    @Option(help: "How often stored refresh tokens are checked, in seconds. With Apple it is once a day.")
    var checkInterval = 5

    @Option(
        help:
            "The page of your site that receives the result of sign-in on the web. Default: a page of the fake Apple."
    )
    var webRedirectURL: String?

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard [port, emulatorPort, googlePort ?? 0, receiverPort ?? 0].allSatisfy((0...65535).contains) else {
            throw ValidationError("A port must be a number from 0 to 65535.")
        }
        guard (1...86_400).contains(checkInterval) else {
            throw ValidationError("--check-interval must be 1 to 86400 seconds.")
        }
        if let database {
            guard case .sqlite = try? DatabaseLocation(url: database) else {
                throw ValidationError("--database must be sqlite:///absolute/path or sqlite://relative/path.")
            }
        }
    }

    func run() async throws {
        let observation = ProcessObservation.ofProcess(level: logLevel)
        defer { observation.sink.flush() }
        do {
            let seed = try seed.map { try SeedFile(path: $0) }
            let tls = try ReceiverTLS(
                names: ["127.0.0.1", "localhost"], at: ProcessObservation.millisecondsSince1970() / 1000)
            let (google, receiver) = (try googleConfiguration, receiverConfiguration(tls: tls))
            let ports = [port, emulatorPort, google?.port ?? 0, receiver.port]
            try await ListenTrial.run(on: ports.map { ("127.0.0.1", $0) })
            let emulator = try await EmulatedApple(
                configuration: emulatorConfiguration, clock: .system, logger: observation.logger)
            let arrivals = try seed.map { try emulator.state.seed($0) } ?? []
            var fakeGoogle: GoogleEmulatorService?
            if let google {
                fakeGoogle = try await GoogleEmulatorService(
                    configuration: google, clock: .system, logger: observation.logger)
            }
            let receivers = try ReceiverEmulatorService(
                configuration: receiver, clock: .system, logger: observation.logger)
            let service = DevelopmentService(
                emulator: emulator, google: fakeGoogle, receivers: receivers, authority: tls.authority,
                observation: observation, options: options, arrivals: arrivals)
            let emulators: [any Service] = [emulator, receivers] + (fakeGoogle.map { [$0] } ?? [])
            try await group(of: emulators, and: service, logger: observation.logger).run()
        } catch {
            let location = try database.map { try DatabaseLocation(url: $0) }
            let found = location.flatMap { OperatorMistake(error, database: $0) } ?? error
            let reason = ErrorMessage.text(for: found, portOption: option(ofPort:))
            ErrorMessage.write("siwa dev has failed: \(reason)")
            throw ExitCode.failure
        }
    }

    /// The group stops the service before the emulators, even after an emulator has failed, so that the
    /// service can finish its requests to them.
    private func group(
        of emulators: [any Service], and service: DevelopmentService, logger: Logger
    ) -> ServiceGroup {
        let services = emulators + [service]
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
            (configuration.host, configuration.port, configuration.hostNames) = (
                host, emulatorPort, allowedHosts
            )
            configuration.stateFile = try stateFile("fake-apple")
            // Slightly shorter than the service's interval, so that clock differences never make a check too
            // early.
            configuration.refreshInterval = Int64(checkInterval) * 9 / 10
            return configuration
        }
    }

    /// Configuration of the fake Google; `nil` if the service has no OAuth clients. OAuth clients are
    /// configured only if users can sign in with a browser, which needs a Services ID and a port that is
    /// known in advance.
    private var googleConfiguration: GoogleEmulatorConfiguration? {
        get throws {
            guard port != 0, clientIDs.count > 1 else { return nil }
            var configuration = GoogleEmulatorConfiguration(
                clientID: DevelopmentClients.google, clientSecret: DevelopmentClients.googleSecret,
                scopes: DevelopmentClients.scopes)
            let usual = hasUsualPorts ? GoogleOptions.port : 0
            (configuration.host, configuration.port, configuration.hostNames) = (
                host, googlePort ?? usual, allowedHosts
            )
            configuration.projectID = DevelopmentClients.googleProject
            configuration.googleClientID = DevelopmentClients.googleClientID
            configuration.apiKey = DevelopmentSettings.secret
            configuration.stateFile = try stateFile("fake-google")
            return configuration
        }
    }

    private func receiverConfiguration(tls: ReceiverTLS) -> ReceiverEmulatorConfiguration {
        var configuration = ReceiverEmulatorConfiguration(
            secrets: [DevelopmentReceivers.secret], audience: DevelopmentReceivers.audience)
        configuration.port = receiverPort ?? (hasUsualPorts ? Tour.receiverPort : 0)
        (configuration.host, configuration.hostNames, configuration.tls) = (host, allowedHosts, tls)
        return configuration
    }

    private func option(ofPort port: Int) -> String? {
        let options = [
            ("--port", self.port), ("--emulator-port", emulatorPort),
            ("--google-port", googlePort ?? GoogleOptions.port),
            ("--receiver-port", receiverPort ?? Tour.receiverPort),
        ]
        return options.first { $0.1 == port }?.0
    }

    /// True for the default ports. Several instances can run at the same time if each instance has its own
    /// ports.
    private var hasUsualPorts: Bool { port == 8080 && emulatorPort == 8081 }

    private var options: DevelopmentService.Options {
        DevelopmentService.Options(
            clientIDs: clientIDs, host: host, port: port, database: database,
            checkInterval: .seconds(checkInterval),
            appCheck: appCheck,
            webRedirectURL: webRedirectURL, allowedHosts: allowedHosts)
    }

    /// Returns a path next to a permanent database, so that the refresh tokens and links in the database
    /// remain valid after a restart.
    private func stateFile(_ name: String) throws -> String? {
        guard let database, case .sqlite(let path) = try DatabaseLocation(url: database) else {
            return nil
        }
        return "\(path)-\(name)"
    }
}
