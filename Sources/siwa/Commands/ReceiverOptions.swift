import ArgumentParser
import EmulatorServer
import Foundation
import Logging
import ReceiverEmulator

/// The options of `siwa emulate --receiver`. The issuer is that of `GoogleOptions`.
struct ReceiverOptions: ParsableArguments {
    @Flag(help: "Run receivers of events instead: a webhook, and security event tokens by push.")
    var receiver = false

    @Option(
        help: "A file with the secret of the webhook. Default: the secret of siwa dev.", completion: .file())
    var webhookSecretFile: String?

    @Option(help: "The aud of security event tokens; their iss is --issuer.")
    var audience = DevelopmentReceivers.audience

    /// Throws `EmulatorError`, and `GoogleOptions.FileUnreadable`.
    func service(
        host: String, port: Int, allowedHosts: [String], logger: Logger
    ) throws -> ReceiverEmulatorService {
        let secret = try webhookSecretFile.map { try GoogleOptions.text(of: $0) }
        var configuration = ReceiverEmulatorConfiguration(
            secrets: [secret ?? DevelopmentReceivers.secret], audience: audience)
        (configuration.host, configuration.port, configuration.hostNames) = (host, port, allowedHosts)
        return try ReceiverEmulatorService(configuration: configuration, clock: .system, logger: logger)
    }

    /// Names the service whose events arrive, and prints the URLs to configure there.
    static func introduce(_ receivers: ReceiverEmulatorService, host: String, issuer: String) async throws {
        // The service itself throws the error that prevents it from listening.
        guard let port = try? await receivers.port() else { return }
        let name = host.contains(":") ? "[\(host)]" : host
        let urls = EmulatedReceiver.allCases.map { ($0, "http://\(name):\(port)/\($0.rawValue)") }
        receivers.state.connect(
            to: EventSender(issuer: issuer, keysURL: "\(issuer)/oauth/jwks.json"),
            urls: Dictionary(urls, uniquingKeysWith: { first, _ in first }))
        // Unbuffered, so that it appears at once also in a pipe.
        let lines = ["URLs of webhooks:"] + urls.map { "  \($0.1)" }
        try FileHandle.standardOutput.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}
