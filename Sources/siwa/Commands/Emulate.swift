import AppleEmulator
import AppleIDClient
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

            Libraries that hard-code Apple's addresses come here with --tls-self-signed and --port 443, when the hosts file \
            names 127.0.0.1 for appleid.apple.com and they trust the ca.pem that is made; the README has the whole recipe.

            Its pages: / for what people do with their accounts, /auth/authorize for sign-in on the web. Everything that a \
            test needs is under /emulator: tokens, codes, keys, faults, time.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 takes any.")
    var port = 8081

    @Option(name: .customLong("team-id"), help: "The Apple team whose app people sign in to.")
    var teamID = DevelopmentSettings.team

    @Option(name: .customLong("client-id"), help: "The app's client IDs, its bundle ID first.")
    var clientIDs = ["com.example.app"]

    @Option(
        help: """
            A key to sign client secrets with: Apple's form, AuthKey_<key ID>.p8, or a public key in PEM. A .p8 that is \
            not there is made. More keys can be registered while it runs.
            """)
    var signingKeyFile: String?

    @Option(help: "The ID of the signing key, when its file is not named AuthKey_<key ID>.p8.")
    var keyID: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: "Where sign-in on the web may end. Plain http is allowed on this machine, unlike at Apple.")
    var redirectURIs: [String] = []

    @Option(help: "Keep the state in this file over restarts.")
    var stateFile: String?

    @Option(
        help: "How often one user may be validated by refresh token, in seconds; 0 for any number of times.")
    var refreshInterval: Int64 = 86_400

    @Option(help: "How long an authorization code is good, in seconds.")
    var codeLifetime: Int64 = 300

    @Option(
        name: .customLong("allowed-host"),
        help: """
            A name besides this machine's under which the fake Apple is called, in a container network say. Under any \
            other it answers nothing, because a web page can make its own name lead here.
            """)
    var allowedHosts: [String] = []

    @OptionGroup(title: "TLS")
    var tls: TLSOptions

    @Option(help: "Where notifications go.")
    var notificationURL: String?

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        guard ClientSigningKey.isKeyID(teamID) else {
            throw ValidationError("--team-id takes 10 capital letters and digits, as Apple's team IDs have.")
        }
    }

    func run() async throws {
        let observation = ProcessObservation.ofProcess(level: logLevel)
        defer { observation.sink.flush() }
        do {
            var configuration = try EmulatorConfiguration(teamID: teamID, clientIDs: clientIDs)
            (configuration.host, configuration.port) = (host, port)
            configuration.hostNames = allowedHosts
            configuration.tls = try tls.read(hosts: allowedHosts, now: ProcessObservation.now() / 1000)
            configuration.notificationURL = notificationURL
            configuration.apps[0].redirectURIs = redirectURIs
            configuration.stateFile = stateFile
            (configuration.refreshInterval, configuration.codeLifetime) = (refreshInterval, codeLifetime)
            if let signingKeyFile {
                let file = try ClientKeyFile(path: signingKeyFile, keyID: keyID)
                configuration.clientKeys = [try file.readOrMake(teamID: teamID)]
                observation.logger.notice(
                    "client secrets are checked",
                    metadata: ["key_id": "\(file.keyID)", "team_id": "\(teamID)"])
            }
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
