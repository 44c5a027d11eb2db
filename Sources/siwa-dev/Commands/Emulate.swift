import AppleEmulator
import AppleIDClient
import ArgumentParser
import Composition
import Cryptography
import EmulatorServer
import Encodings
import Foundation
import GoogleEmulator
import HTTPAPI
import Logging
import ReceiverEmulator
import ServiceLifecycle
import UnixSignals

/// The `siwa emulate` command.
struct Emulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: DevelopmentCommand.emulate.abstract,
        discussion: """
            For a service in another process, with SIWA_ENV=development and APPLE_BASE_URL set to this \
            server. Every client that can reach the fake Apple can sign in as any user of a service that \
            trusts its keys: before you set --host, give it a network of its own.

            Libraries with fixed Apple URLs can use it with --tls-self-signed and --port 443: let the hosts \
            file map appleid.apple.com to 127.0.0.1, and let the library trust the generated ca.pem. The \
            documentation describes all steps.

            Pages: / for the settings that users have at Apple, /auth/authorize for sign-in on the web. The \
            API for tests is under /emulator: tokens, codes, keys, faults, time.

            With --google it runs the fake Google instead: its page links accounts with an authorization \
            server in the browser and by App Flip, and the API for tests is under /control. Register its \
            redirect URIs, which it prints, as app_flip_test_redirect_uris of the client.

            With --receiver it runs receivers of events instead: /webhook and /push verify what arrives, and \
            the page shows it. Configure their URLs as webhooks of the service.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(
        help:
            "The port; 0 chooses a free one. By default 8081, 8082 for the fake Google, and 8083 for receivers."
    )
    var port: Int?

    @Option(name: .customLong("team-id"), help: "The Apple team that owns the app.")
    var teamID = DevelopmentSettings.team

    @Option(name: .customLong("client-id"), help: "The app's client IDs, its bundle ID first.")
    var clientIDs = ["com.example.app"]

    @Option(
        help: """
            A key that verifies client secrets: Apple's format, AuthKey_<key ID>.p8, or a public key in PEM. \
            A missing .p8 file is created. More keys can be registered at run time.
            """)
    var signingKeyFile: String?

    @Option(help: "The ID of the signing key, if its file is not named AuthKey_<key ID>.p8.")
    var keyID: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: "A redirect URI for sign-in on the web. Unlike Apple, it may use http on this machine.")
    var redirectURIs: [String] = []

    @Option(help: "A YAML file with people. Its signed_in has an effect in siwa dev only.")
    var seed: String?

    @Option(help: "Keep the state in this file, so that it survives restarts.")
    var stateFile: String?

    @Option(
        help:
            "The shortest time between two validations of a user's refresh token, in seconds; 0 for no limit."
    )
    var refreshInterval: Int64 = 86_400

    @Option(help: "The lifetime of an authorization code, in seconds.")
    var codeLifetime: Int64 = 300

    @Option(
        name: .customLong("allowed-host"),
        help: """
            An additional host name of the fake Apple, for example in a container network. Requests with \
            another Host are refused, because a web page can let its own host name resolve to this machine.
            """)
    var allowedHosts: [String] = []

    @OptionGroup(title: "The fake Google")
    var google: GoogleOptions

    @OptionGroup(title: "Receivers of events")
    var receiver: ReceiverOptions

    @OptionGroup(title: "TLS")
    var tls: TLSOptions

    @Option(help: "The URL that receives notifications.")
    var notificationURL: String?

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard (0...65535).contains(port ?? 0) else {
            throw ValidationError("A port must be a number from 0 to 65535.")
        }
        guard AllowedHosts.isName(host) else {
            throw ValidationError(
                "--host must be an address or a host name; 0.0.0.0 is every address of IPv4, and :: every address."
            )
        }
        guard ClientSigningKey.isKeyID(teamID) else {
            throw ValidationError("--team-id must be 10 capital letters and digits, like Apple's team IDs.")
        }
    }

    func run() async throws {
        let observation = ProcessObservation.ofProcess(level: logLevel)
        defer { observation.sink.flush() }
        if google.google { return try await runGoogle(observation) }
        if receiver.receiver { return try await runReceivers(observation) }
        do {
            var configuration = try EmulatorConfiguration(teamID: teamID, clientIDs: clientIDs)
            (configuration.host, configuration.port) = (host, port ?? 8081)
            configuration.hostNames = allowedHosts
            configuration.tls = try tls.read(
                hosts: allowedHosts, now: ProcessObservation.millisecondsSince1970() / 1000)
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
            let seed = try seed.map { try SeedFile(path: $0) }
            let emulator = try await EmulatedApple(
                configuration: configuration, clock: .system, logger: observation.logger)
            if let seed { _ = try emulator.state.seed(seed) }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [observation.sink, emulator], gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: observation.logger))
            try await group.run()
        } catch {
            let reason = ErrorMessage.text(for: error) { _ in "--port" }
            ErrorMessage.write("The fake Apple has failed: \(reason)")
            throw ExitCode.failure
        }
    }

    private func runReceivers(_ observation: ProcessObservation) async throws {
        do {
            let receivers = try receiver.service(
                host: host, port: port ?? Tour.receiverPort, allowedHosts: allowedHosts,
                logger: observation.logger)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [observation.sink, receivers], gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: observation.logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                tasks.addTask {
                    try await ReceiverOptions.introduce(receivers, host: host, issuer: google.issuer)
                }
                try await tasks.waitForAll()
            }
        } catch {
            let reason = ErrorMessage.text(for: error) { _ in "--port" }
            ErrorMessage.write("The receivers have failed: \(reason)")
            throw ExitCode.failure
        }
    }

    private func runGoogle(_ observation: ProcessObservation) async throws {
        do {
            var configuration = try google.configuration(
                host: host, port: port ?? GoogleOptions.port, allowedHosts: allowedHosts)
            configuration.stateFile = stateFile
            let emulator = try await GoogleEmulatorService(
                configuration: configuration, clock: .system, logger: observation.logger)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [observation.sink, emulator], gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: observation.logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                tasks.addTask {
                    // If the service cannot listen, it throws the error itself.
                    guard (try? await emulator.port()) != nil else { return }
                    // Written unbuffered, so that the text appears immediately even in a pipe.
                    let lines = ["redirect URIs:"] + emulator.state.redirectURIs
                    try FileHandle.standardOutput.write(
                        contentsOf: Data((lines.joined(separator: "\n  ") + "\n").utf8))
                }
                try await tasks.waitForAll()
            }
        } catch {
            let reason = ErrorMessage.text(for: error) { _ in "--port" }
            ErrorMessage.write("The fake Google has failed: \(reason)")
            throw ExitCode.failure
        }
    }
}

/// The options of `siwa emulate --receiver`. The issuer comes from `GoogleOptions`.
struct ReceiverOptions: ParsableArguments {
    @Flag(help: "Run receivers of events instead: a webhook, and security event tokens by push.")
    var receiver = false

    @Option(
        help: "A file with the secret of the webhook. Default: the secret of siwa dev.", completion: .file())
    var webhookSecretFile: String?

    @Option(help: "The aud of security event tokens; their iss is --issuer.")
    var audience = DevelopmentReceivers.audience

    /// Creates the service for the receivers. Throws `EmulatorError` if the configuration is unusable, and
    /// `GoogleOptions.FileUnreadable`.
    func service(
        host: String, port: Int, allowedHosts: [String], logger: Logger
    ) throws -> ReceiverEmulatorService {
        let secret = try webhookSecretFile.map { try GoogleOptions.text(of: $0) }
        var configuration = ReceiverEmulatorConfiguration(
            secrets: [secret ?? DevelopmentReceivers.secret], audience: audience)
        (configuration.host, configuration.port, configuration.hostNames) = (host, port, allowedHosts)
        return try ReceiverEmulatorService(configuration: configuration, clock: .system, logger: logger)
    }

    /// Connects the receivers to the service that has this issuer, and prints the URLs to configure there.
    static func introduce(_ receivers: ReceiverEmulatorService, host: String, issuer: String) async throws {
        // If the service cannot listen, it throws the error itself.
        guard let port = try? await receivers.port() else { return }
        let name = host.contains(":") ? "[\(host)]" : host
        let urls = EmulatedReceiver.allCases.map { ($0, "http://\(name):\(port)/\($0.rawValue)") }
        receivers.state.connect(
            to: EventSender(issuer: issuer, keysURL: "\(issuer)/oauth/jwks.json"),
            urls: Dictionary(urls, uniquingKeysWith: { first, _ in first }))
        // Written unbuffered, so that the text appears immediately even in a pipe.
        let lines = ["URLs of webhooks:"] + urls.map { "  \($0.1)" }
        try FileHandle.standardOutput.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}

/// A file with the key that signs client secrets, in Apple's `.p8` format. A service that is tested with the
/// fake Apple reads the same file.
struct ClientKeyFile {
    let path: String
    let keyID: String

    struct KeyIDMissing: Error, CustomStringConvertible {
        var description: String { "--key-id is needed: the file is not named AuthKey_<key ID>.p8" }
    }

    /// - Throws: `KeyIDMissing` if the key ID is neither given nor part of the file name.
    init(path: String, keyID: String?) throws {
        guard let keyID = keyID ?? SigningKeyLocation.keyID(inFileName: path) else { throw KeyIDMissing() }
        (self.path, self.keyID) = (path, keyID)
    }

    /// Reads the key. If there is no file, generates a key and creates the file, which only its owner can
    /// read. Throws `EmulatorError` if the file has no P-256 key.
    func readOrMake(teamID: String) throws -> ClientKey {
        guard !FileManager.default.fileExists(atPath: path) else {
            let pem = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
            return try ClientKey(teamID: teamID, keyID: keyID, pem: pem)
        }
        let key = try ClientKey.generate(teamID: teamID, keyID: keyID)
        let content = Data((key.privateKeyPEM ?? "").utf8)
        try PrivateFile.make(at: path, content: content)
        return key
    }
}
