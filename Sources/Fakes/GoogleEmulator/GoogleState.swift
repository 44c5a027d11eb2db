public import EmulatorServer
import JOSE
import ServiceLifecycle
import Synchronization

/// The fake Google's state. All methods are thread-safe.
public final class GoogleState: Sendable {
    struct World {
        var server: LinkedServer?
        var appleURL: String?
        /// The emulator's URL, `http://127.0.0.1:PORT`, once it listens.
        var baseURL = ""
        var links = LinkBook()
        var exchanges = ExchangeLog()
        var inbox = EventInbox()
        var events = EventStreamBook()
        var faults = FaultTable()
        var keys: [GoogleKey]
    }

    /// Maximum number of keys, more than a rotation needs. When it is exceeded, the oldest key is dropped.
    static let mostKeys = 8

    let configuration: GoogleEmulatorConfiguration
    let clock: EmulatorClock
    private let world: Mutex<World>
    /// Notifies a listener of each exchange.
    package let observer = ExchangeObserver()

    init(configuration: GoogleEmulatorConfiguration, keys: [GoogleKey], clock: EmulatorClock) {
        (self.configuration, self.clock) = (configuration, clock)
        world = Mutex(World(server: configuration.server, appleURL: configuration.appleURL, keys: keys))
    }

    /// Restores an earlier run's state, except the keys, which the initializer has already received.
    func restore(_ snapshot: GoogleSnapshot) {
        update { ($0.links, $0.inbox, $0.events) = (snapshot.links, snapshot.inbox, snapshot.events) }
    }

    func snapshot() -> GoogleSnapshot { update { GoogleSnapshot($0) } }

    /// Reads or changes the whole state under one lock. `body` must be fast.
    func update<Result>(_ body: (inout sending World) -> sending Result) -> sending Result {
        world.withLock(body)
    }

    /// Current time in seconds since 1970.
    var now: Int64 { clock.now() / 1000 }

    /// Sets the authorization server and the fake Apple, if their ports become known only after startup.
    public func connect(to server: LinkedServer, appleURL: String? = nil) {
        update { world in
            world.server = server
            world.appleURL = appleURL ?? world.appleURL
        }
    }

    public var links: [AccountLink] { update { $0.links.links } }
    public var receivedEvents: [ReceivedEvent] { update { $0.inbox.events } }
    public var exchanges: [Exchange] { update { $0.exchanges.exchanges } }

    /// Redirect URIs for linking in the browser and for App Flip. They have the emulator's own origin,
    /// because requests to Google's hosts do not reach the emulator.
    public var redirectURIs: [String] {
        let base = update { $0.baseURL }
        return ["\(base)/r/\(configuration.projectID)"] + Self.bundleIDs.map { "\(base)/a/\($0)" }
    }

    /// The bundle IDs of the Google apps that start App Flip: Google Home and Google Assistant.
    static let bundleIDs = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]

    /// Google's real hosts, for tests that do not follow the redirect.
    static let googleHosts = [
        "https://oauth-redirect.googleusercontent.com",
        "https://oauth-redirect-sandbox.googleusercontent.com",
    ]

    public func setFault(_ fault: GoogleFault?, at place: FaultPlace) {
        update { $0.faults[place] = fault }
    }

    /// Returns the authorization server. Throws `.serverMissing` if no server is configured.
    func server() throws(EmulatorError) -> LinkedServer {
        guard let server = update({ $0.server }) else {
            throw EmulatorError(.serverMissing, detail: "no authorization server is configured")
        }
        return server
    }

    func signingKey() throws(EmulatorError) -> GoogleKey {
        guard let key = update({ $0.keys.last }) else { throw EmulatorError(.signingFailed) }
        return key
    }

    /// IDs of the published keys. The last key signs.
    public var keyIDs: [String] { update { $0.keys.map(\.keyID) } }

    /// The faults that are currently set.
    public var faults: [FaultPlace: GoogleFault] { update { $0.faults.faults } }

    /// Starts a link in the browser, and returns the URL to open there. Throws `.serverMissing` if no server
    /// is configured.
    public func beginLink() throws(EmulatorError) -> String {
        try Linking(state: self).begin(LinkRequest()).url
    }

    /// Uses a link. Returns the response status; `nil` if no response arrived.
    package func carryOut(_ action: LinkAction, on link: String) async throws(EmulatorError) -> Int? {
        try await action.carryOut(Linking(state: self), link).status
    }

    /// Generates a new signing key, and returns its ID. The old keys remain published.
    @discardableResult
    public func replaceSigningKey() throws -> String { try rotateKey().keyID }

    /// Generates a new signing key. The old keys remain published.
    func rotateKey() throws -> GoogleKey {
        let key = try GoogleKey.generate()
        update { world in
            if world.keys.count >= Self.mostKeys { world.keys.removeFirst() }
            world.keys.append(key)
        }
        return key
    }

    /// Waits out a fault's delay. A shutdown ends the wait.
    func wait(_ milliseconds: Int64) async {
        try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(milliseconds) }
    }

    /// The start of an exchange. The exchange is recorded when it ends.
    var exchangeStart: ExchangeStart { ExchangeStart(at: clock.now()) }

    /// - Parameter start: Start of the exchange; `nil` for a step without a duration.
    func record(
        _ step: ExchangeStep, _ title: String, request: String, response: String, status: Int? = nil,
        since start: ExchangeStart? = nil, requestID: String? = nil
    ) {
        let start = start ?? exchangeStart
        update { world in
            world.exchanges.add(
                step, title, request: request, response: response, status: status, since: start,
                requestID: requestID)
        }
        observer.tell()
    }
}

/// The state that survives a restart: links with their tokens, started links, accepted events, the registered
/// receiver with the service accounts, and keys. If this state were lost, a server with a permanent database
/// would have grants that a restarted Google does not know. Exchanges and faults are lost.
struct GoogleSnapshot: Codable {
    struct Key: Codable {
        let keyID: String
        let pem: String
    }

    let links: LinkBook
    let inbox: EventInbox
    let events: EventStreamBook
    let keys: [Key]

    init(_ world: GoogleState.World) {
        (links, inbox, events) = (world.links, world.inbox, world.events)
        keys = world.keys.map { Key(keyID: $0.keyID, pem: $0.privateKey.pem) }
    }

    /// Returns the signing keys. Throws `.stateFileDamaged` if there is none, or if a key is unusable.
    func signingKeys() throws(EmulatorError) -> [GoogleKey] {
        let read = keys.compactMap { key in
            (try? RSAPrivateKey(pem: key.pem)).map { GoogleKey(keyID: key.keyID, privateKey: $0) }
        }
        guard !read.isEmpty, read.count == keys.count else {
            throw EmulatorError(.stateFileDamaged, detail: "a key in it cannot be used")
        }
        return read
    }
}
