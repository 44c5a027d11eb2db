import Certificates
import Cryptography
public import EmulatorServer
import Encodings
import JOSE
import NIOCore
import NIOSSL

/// The configuration of the fake receivers.
public struct ReceiverEmulatorConfiguration: Sendable {
    /// Prefix of a secret in the Standard Webhooks format.
    static let secretPrefix = "whsec_"
    /// Allowed secret sizes in bytes.
    static let secretSizes = 24...64

    public var host = "127.0.0.1"
    /// Port; 0 lets the system choose one, which `ReceiverEmulatorService.port()` then returns.
    public var port = 0
    /// Host names accepted in addition to loopback names and `host`. Requests with any other `Host` are
    /// refused, because a web page can make its own name resolve to this machine.
    public var hostNames: [String] = []
    /// Webhook secrets. Each message must be signed with one of them.
    public var secrets: [String]
    /// Value of `aud` in security event tokens.
    public var audience: String
    /// Certificates for an additional TLS server, on a port that the system chooses.
    public var tls: ReceiverTLS?

    public init(secrets: [String], audience: String) {
        (self.secrets, self.audience) = (secrets, audience)
    }

    /// Returns the checks. Throws `.configurationInvalid` if a value is out of bounds.
    func checks() throws(EmulatorError) -> MessageChecks {
        try EmulatorListener.check(port: port, hostNames: hostNames)
        guard (1...255).contains(audience.utf8.count), !audience.hasControlCharacters else {
            throw EmulatorError(.configurationInvalid, detail: "the audience must have 1 to 255 bytes")
        }
        let keys = secrets.compactMap(Self.key)
        guard keys.count == secrets.count, !keys.isEmpty else {
            throw EmulatorError(
                .configurationInvalid,
                detail: "a secret of the webhook must be whsec_ and 24 to 64 bytes in base64")
        }
        return MessageChecks(
            webhook: WebhookCheck(codes: keys.map { HMACSHA256(key: $0) }), audience: audience)
    }

    private static func key(of secret: String) -> [UInt8]? {
        guard secret.hasPrefix(secretPrefix),
            let key = Base64.decode(String(secret.dropFirst(secretPrefix.count))),
            secretSizes.contains(key.count)
        else { return nil }
        return key
    }
}

/// The service that sends the events.
public struct EventSender: Sendable {
    /// Value of `iss` in the service's security event tokens; `nil` if it sends no such tokens.
    public var issuer: String?
    /// URL of the service's public keys.
    public var keysURL: String?
    /// Returns the service's status text for each receiver, keyed by receiver name; empty if the status is
    /// unknown.
    public var status: @Sendable () async -> [String: String] = { [:] }
    /// Makes the service send all waiting events to the named receiver immediately.
    public var resume: @Sendable (_ name: String) async -> Void = { _ in }

    public init(issuer: String? = nil, keysURL: String? = nil) {
        (self.issuer, self.keysURL) = (issuer, keysURL)
    }
}

/// The certificates of a TLS server: a certificate that clients can trust, and a certificate from another
/// authority for the fault `wrong_certificate`. Both are created at startup and kept only in memory.
public struct ReceiverTLS: Sendable {
    private struct Identity: Sendable {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource
    }

    /// PEM certificate of the authority that clients must trust.
    public let authority: String
    private let right: Identity
    private let wrong: Identity

    /// - Parameters:
    ///   - names: Host names and IP addresses of the server.
    ///   - now: Seconds since 1970.
    /// - Throws: `.configurationInvalid` for an invalid name.
    public init(names: [String], at now: Int64) throws(EmulatorError) {
        do {
            let made = try ServerCertificate.make(names: names, at: now)
            authority = made.authority
            right = try Self.identity(made)
            wrong = try Self.identity(try ServerCertificate.make(names: names, at: now))
        } catch {
            throw EmulatorError(.configurationInvalid, detail: "the certificate could not be made")
        }
    }

    private static func identity(_ made: ServerCertificate) throws -> Identity {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(made.certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(made.privateKey.utf8), format: .pem)
        return Identity(chain: chain.map { .certificate($0) }, key: .privateKey(key))
    }

    /// Selects the certificate for each handshake.
    func configuration(of state: ReceiverState) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: right.chain, privateKey: right.key)
        configuration.applicationProtocols = ["http/1.1"]
        configuration.sslContextCallback = { [wrong] _, promise in
            var override = NIOSSLContextConfigurationOverride.noChanges
            if state.showsWrongCertificate {
                (override.certificateChain, override.privateKey) = (wrong.chain, wrong.key)
            }
            promise.succeed(override)
        }
        return configuration
    }
}
