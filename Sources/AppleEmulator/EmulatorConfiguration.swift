import ForeignPages

/// What the fake Apple is told when it starts.
public struct EmulatorConfiguration: Sendable {
    /// The apps that people sign in to. The first app's first client ID is the default of every call.
    public var apps: [EmulatedApp]
    public var host = "127.0.0.1"
    /// 0 lets the system choose; `EmulatedApple.port()` then tells.
    public var port = 0
    /// Speaks TLS only when it is there.
    public var tls: EmulatorTLS?
    /// Names besides Apple's, this machine's and `host` under which it is called, in a container network say. Under any other
    /// it answers nothing: a web page can make its own name lead here.
    public var hostNames: [String] = []
    /// Where notifications go. Its host may be called, whatever it is, because the operator named it.
    public var notificationURL: String?
    /// Hosts beyond loopback that the control API may name as receivers.
    public var allowedNotificationHosts: Set<String> = []
    /// The keys to start with. When empty, `keyCount` new ones are made, which takes a moment.
    public var keys: [SigningKey] = []
    public var keyCount = 3
    /// Where the state is kept over restarts; `nil` keeps it in memory only. Made when absent.
    public var stateFile: String?
    /// The keys that teams sign client secrets with. Without one, and until one is registered, every client secret is
    /// refused.
    public var clientKeys: [ClientKey] = []
    /// How long a code is good, in seconds. Five minutes at Apple.
    public var codeLifetime: Int64 = 300
    /// How often one person may be validated for one client ID, in seconds. A day at Apple; 0 throttles nobody.
    public var refreshInterval: Int64 = 86_400
    /// The `Cache-Control` of `/auth/keys`; `nil` sends none.
    public var cacheControl: String? = "max-age=3600"
    /// Whether `/auth/keys` has an `ETag` and answers 304.
    public var sendsEntityTag = true

    public init(apps: [EmulatedApp]) {
        self.apps = apps
    }

    /// One team with one app. Throws `.configurationInvalid` without a client ID.
    public init(teamID: String, clientIDs: [String]) throws(EmulatorError) {
        self.init(apps: [try EmulatedApp(teamID: teamID, clientIDs: clientIDs)])
    }

    /// Apple's own names, because the emulator stands in for them; no page of another site has these.
    var allowedHosts: AllowedHosts {
        AllowedHosts(hostNames + [host, "appleid.apple.com", "account.apple.com"])
    }

    /// Of the URLs that the discovery document names.
    var scheme: String { tls == nil ? "http" : "https" }

    /// Throws `.configurationInvalid` when a value is out of bounds.
    func check() throws(EmulatorError) {
        var owners: [String: Int] = [:]
        for (index, app) in apps.enumerated() {
            for clientID in app.clientIDs
            where (owners.updateValue(index, forKey: clientID) ?? index) != index {
                throw EmulatorError(.configurationInvalid, detail: "a client ID belongs to two apps")
            }
        }
        for app in apps { for uri in app.redirectURIs { try RedirectURI.check(uri) } }
        for name in hostNames where !AllowedHosts.isName(name) {
            throw EmulatorError(
                .configurationInvalid,
                detail: "an allowed host must be a name or an address without a port, not \(name)")
        }
        guard !apps.isEmpty else { throw EmulatorError(.configurationInvalid, detail: "no app") }
        guard (0...65535).contains(port) else { throw EmulatorError(.configurationInvalid, detail: "port") }
        guard (1...86_400).contains(codeLifetime), (0...31_536_000).contains(refreshInterval) else {
            throw EmulatorError(.configurationInvalid, detail: "code lifetime or refresh interval")
        }
        guard keys.count <= KeyRing.capacity, (1...KeyRing.capacity).contains(keyCount) else {
            throw EmulatorError(.configurationInvalid, detail: "1 to \(KeyRing.capacity) keys")
        }
    }
}
