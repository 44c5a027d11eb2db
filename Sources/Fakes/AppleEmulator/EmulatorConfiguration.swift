public import EmulatorServer
import Encodings
import NIOSSL

/// The configuration of the fake Apple.
public struct EmulatorConfiguration: Sendable {
    /// The apps. By default, control requests use the first app's first client ID.
    public var apps: [EmulatedApp]
    public var host = "127.0.0.1"
    /// Port; 0 lets the system choose one, which `EmulatedApple.port()` then returns.
    public var port = 0
    /// TLS certificate and key. If they are set, the emulator accepts only TLS.
    public var tls: EmulatorTLS?
    /// Host names accepted in addition to Apple's, loopback names and `host`, for example in a container
    /// network. Requests with any other `Host` are refused, because a web page can make its own name resolve
    /// to this machine.
    public var hostNames: [String] = []
    /// The URL that receives notifications. Any host is allowed, because the operator has configured it.
    public var notificationURL: String?
    /// Hosts other than loopback that control requests may name as notification receivers.
    public var allowedNotificationHosts: Set<String> = []
    /// The initial signing keys. If empty, the emulator takes the keys of the state file, or else `keyCount` new
    /// keys. It generates new keys when they are first used or, for a state file, at the start.
    public var keys: [SigningKey] = []
    public var keyCount = 3
    /// The file that keeps the state across restarts; `nil` to keep it only in memory. The file is created if
    /// it does not exist.
    public var stateFile: String?
    /// The keys that teams sign client secrets with. Without any key, every client secret is refused.
    public var clientKeys: [ClientKey] = []
    /// Code lifetime in seconds. At Apple, it is five minutes.
    public var codeLifetime: Int64 = 300
    /// Minimum time between two validations for one user and client ID, in seconds. At Apple, it is a day. 0
    /// disables throttling.
    public var refreshInterval: Int64 = 86_400
    /// Value of `Cache-Control` for `/auth/keys`; `nil` omits the header.
    public var cacheControl: String? = "max-age=3600"
    /// True if `/auth/keys` sends an `ETag` and responds with 304.
    public var sendsEntityTag = true

    public init(apps: [EmulatedApp]) {
        self.apps = apps
    }

    /// Creates a configuration of one team with one app. Throws `.configurationInvalid` if there is no client
    /// ID.
    public init(teamID: String, clientIDs: [String]) throws(EmulatorError) {
        self.init(apps: [try EmulatedApp(teamID: teamID, clientIDs: clientIDs)])
    }

    /// Names allowed in `Host`. They include Apple's host names, because the emulator can stand in for Apple
    /// under these names, and no page on another site has them.
    var allowedHosts: AllowedHosts {
        AllowedHosts(
            hostNames + [
                host, "appleid.apple.com", "account.apple.com", AttestationDataEndpoint.productionHost,
                AttestationDataEndpoint.developmentHost,
            ])
    }

    /// URL scheme in the discovery document.
    var scheme: String { tls == nil ? "http" : "https" }

    /// Checks the values. Throws `.configurationInvalid` if a value is out of bounds.
    func check() throws(EmulatorError) {
        var owners: [String: Int] = [:]
        for (index, app) in apps.enumerated() {
            for clientID in app.clientIDs
            where (owners.updateValue(index, forKey: clientID) ?? index) != index {
                throw EmulatorError(.configurationInvalid, detail: "a client ID belongs to two apps")
            }
        }
        for app in apps { for uri in app.redirectURIs { try RedirectURI.check(uri) } }
        try EmulatorListener.check(port: port, hostNames: hostNames)
        guard !apps.isEmpty else {
            throw EmulatorError(.configurationInvalid, detail: "at least one app is needed")
        }
        guard (1...86_400).contains(codeLifetime), (0...31_536_000).contains(refreshInterval) else {
            throw EmulatorError(
                .configurationInvalid,
                detail: "code lifetime must be 1 to 86400 s, refresh interval 0 to 31536000 s")
        }
        guard keys.count <= KeyRing.capacity, (1...KeyRing.capacity).contains(keyCount) else {
            throw EmulatorError(.configurationInvalid, detail: "there must be 1 to \(KeyRing.capacity) keys")
        }
    }
}

/// The emulator's TLS certificate and key. If they are set, the emulator accepts only TLS, as Apple does.
public struct EmulatorTLS: Sendable {
    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificates: PEM of the server certificate, followed by the intermediate certificates.
    ///   - privateKey: PEM, without a passphrase.
    /// - Throws: `.configurationInvalid` if they cannot be read or do not match.
    public init(certificates: String, privateKey: String) throws(EmulatorError) {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8))
        } catch {
            throw EmulatorError(.configurationInvalid, detail: "the TLS certificate is not a PEM certificate")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem)
        } catch {
            throw EmulatorError(
                .configurationInvalid, detail: "the TLS key is not a PEM private key without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        do {
            // This context is only a check, so that an error appears before the first connection.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw EmulatorError(
                .configurationInvalid, detail: "the TLS key does not belong to the first TLS certificate")
        }
        self.configuration = configuration
    }
}
