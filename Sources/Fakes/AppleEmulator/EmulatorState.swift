public import EmulatorServer
public import Synchronization

/// The fake Apple without its server: the control API's functions, for callers in the same process.
///
/// All methods are thread-safe. Minting a token takes about a millisecond, because of the RSA signature, and up to
/// a second when it needs a key that has not been generated yet.
public final class EmulatorState: Sendable {
    let configuration: EmulatorConfiguration
    let clock: EmulatorClock
    let initialKeys: [SigningKey]
    let signer = TokenSigner()
    /// App Attest authorities, created when first used.
    private let appAttest = Mutex<AppAttestAuthorities?>(nil)
    let world: Mutex<EmulatedWorld>
    /// The app's backend, which receives the values that an iPhone app would post; `nil` if there is none.
    public let appBackend = Mutex<AppBackend?>(nil)
    /// Notifies a listener of each exchange.
    package let observer = ExchangeObserver()
    /// IDs of the notifications to retry.
    let awaitedRetries: AsyncStream<Int>
    let retries: AsyncStream<Int>.Continuation
    /// The configured state, which a reset restores. Only the process can change it: the control API changes
    /// the world, and only until the next reset.
    private let start: Mutex<EmulatorStart>

    /// Creates the state. Throws `.configurationInvalid` if the configuration is unusable.
    init(
        configuration: EmulatorConfiguration, keys: [SigningKey], clock: EmulatorClock
    ) throws(EmulatorError) {
        (self.configuration, self.clock, initialKeys) = (configuration, clock, keys)
        (awaitedRetries, retries) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Outbox.capacity))
        var target: NotificationTarget?
        if let url = configuration.notificationURL { target = try .trusted(url) }
        let start = EmulatorStart(
            apps: configuration.apps, clientKeys: configuration.clientKeys, notificationTarget: target)
        self.start = Mutex(start)
        world = Mutex(try start.world(keys: keys))
    }

    /// Emulated time in milliseconds since 1970: the clock plus the time that `advanceClock` added.
    public var now: Int64 { clock.now() + world.withLock { $0.clockOffset } }

    /// Milliseconds by which the emulated time is ahead of the clock.
    public var clockOffset: Int64 { world.withLock { $0.clockOffset } }

    /// Advances the emulated time, for tests of code lifetimes, throttling and transfers, which would
    /// otherwise take minutes to months.
    ///
    /// Throws `.memberMalformed` for a negative number or more than ten years.
    public func advanceClock(bySeconds seconds: Int64) throws(EmulatorError) {
        guard (0...Self.longestStep).contains(seconds) else {
            throw EmulatorError(
                .memberMalformed, detail: "advance_seconds: an integer in 0...\(Self.longestStep)")
        }
        try world.withLock { world throws(EmulatorError) in
            guard world.clockOffset <= Self.longestStep * 1000 else {
                throw EmulatorError(
                    .memberMalformed, detail: "advance_seconds: the clock can be at most ten years ahead")
            }
            world.clockOffset += seconds * 1000
        }
    }

    static let longestStep: Int64 = 315_360_000

    /// Returns the App Attest authorities. Throws `.attestationUnsignable` if OpenSSL fails.
    func authorities() throws(EmulatorError) -> AppAttestAuthorities {
        try appAttest.withLock { held throws(EmulatorError) in
            if let held { return held }
            let made = try AppAttestAuthorities()
            held = made
            return made
        }
    }

    /// Restores an earlier run's state. Throws `.stateFileDamaged` if a stored key is unusable.
    func restore(_ snapshot: WorldSnapshot) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            do {
                try snapshot.restore(into: &world)
            } catch {
                throw EmulatorError(.stateFileDamaged, detail: "a key in it cannot be used")
            }
        }
    }

    public var apps: [EmulatedApp] { world.withLock { $0.apps } }
    public var counters: EmulatorCounters { world.withLock { $0.counters } }
    public var keys: [HeldKey] { world.withLock { $0.keys.keys } }
    public var faults: [EmulatedEndpoint: EndpointFault] { world.withLock { $0.faults } }
    public var notificationTarget: NotificationTarget? { world.withLock { $0.notificationTarget } }

    /// Hosts other than loopback that control requests may name as notification receivers.
    var allowedHosts: Set<String> {
        let host = start.withLock { $0.notificationTarget?.host }
        return configuration.allowedNotificationHosts.union(host.map { [$0] } ?? [])
    }

    /// All users; the first is the default user.
    public var users: [EmulatedUser] { world.withLock { $0.users.users } }

    /// Returns a user. Throws `.userNotFound`. `nil` and `default` select the default user.
    public func user(_ subject: String?) throws(EmulatorError) -> EmulatedUser {
        try world.withLock { world throws(EmulatorError) in
            world.users[try world.users.find(subject).position]
        }
    }

    /// Creates a user. Throws `.userExists` and `.tooManyUsers`.
    public func makeUser(_ recipe: UserRecipe) throws(EmulatorError) -> EmulatedUser {
        try world.withLock { world throws(EmulatorError) in try world.users.make(recipe) }
    }

    /// Changes the values that a user can change, and Apple's assessment of the user. Throws `.userNotFound`.
    @discardableResult
    public func edit(_ subject: String, _ edit: UserEdit) throws(EmulatorError) -> EmulatedUser {
        try world.withLock { world throws(EmulatorError) in
            let position = try world.users.find(subject).position
            world.users[position].firstName = edit.firstName
            world.users[position].lastName = edit.lastName
            world.users[position].hidesEmail = edit.hidesEmail
            world.users[position].realUserStatus = edit.realUserStatus
            return world.users[position]
        }
    }

    /// Sets an endpoint's fault; `nil` removes it.
    public func setFault(_ fault: EndpointFault?, on endpoint: EmulatedEndpoint) {
        world.withLock { $0.faults[endpoint] = fault }
    }

    public func clearFaults() {
        world.withLock { $0.faults = [:] }
    }

    /// Sets the URL that receives notifications, which a reset keeps. Any host is allowed, because the caller
    /// is in the same process.
    ///
    /// Throws `.notificationURLRefused` unless the text is an http or https URL.
    public func setNotificationURL(_ url: String?) throws(EmulatorError) {
        var target: NotificationTarget?
        if let url { target = try .trusted(url) }
        start.withLock { $0.notificationTarget = target }
        setNotificationTarget(target)
    }

    /// Replaces the redirect URIs of the app to which a client ID belongs. A reset keeps them.
    ///
    /// Throws the same errors as `setRedirectURIs(_:of:)`.
    public func configureRedirectURIs(_ uris: [String], of clientID: String) throws(EmulatorError) {
        try setRedirectURIs(uris, of: clientID)
        start.withLock { $0.setRedirectURIs(uris, of: clientID) }
    }

    /// Registers a key, which a reset keeps. Does nothing if the key is already registered.
    ///
    /// Throws `.tooManyKeys`.
    public func configureClientKey(_ key: ClientKey) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            guard world.clientKeys.key(key.keyID, of: key.teamID) == nil else { return }
            try world.clientKeys.add(key)
        }
        start.withLock { $0.addClientKey(key) }
    }

    func setNotificationTarget(_ target: NotificationTarget?) {
        world.withLock { $0.notificationTarget = target }
    }

    public func clearCounters() {
        world.withLock { world in
            world.counters = EmulatorCounters()
            world.grants.forgetUsage()
        }
    }

    /// Resets the emulator to the initial keys, only the default user, no faults, and the configured client
    /// keys, redirect URIs and notification URL.
    public func reset() throws(EmulatorError) {
        let initial = try start.withLock { start throws(EmulatorError) in try start.world(keys: initialKeys) }
        world.withLock { world in
            let outbox = world.outbox.successor
            world = initial
            world.outbox = outbox
        }
    }

    func count(_ delivery: Delivery) {
        world.withLock { world in
            world.counters.deliveries += 1
            if !delivery.isTaken { world.counters.deliveriesRefused += 1 }
        }
    }

    func beginRequest(on endpoint: EmulatedEndpoint) -> EndpointFault? {
        world.withLock { $0.beginRequest(on: endpoint) }
    }

    func count(_ refusal: OAuthError, on endpoint: EmulatedEndpoint) {
        world.withLock { world in
            world.counters.refusals[endpoint, default: 0] += 1
            if refusal.code == .invalidClient { world.counters.clientSecretsRefused += 1 }
        }
    }

    func keySet(ifNoneMatch: String?, fault: EndpointFault?) async throws -> EndpointResponse {
        let isGenuine = fault.map { $0.bodyKind == .genuine } ?? true
        let response = KeySetResponse.make(
            try await KeySetDocument(world.withLock { $0.keys.published }),
            ifNoneMatch: isGenuine && (fault?.status ?? 200) == 200 ? ifNoneMatch : nil,
            cacheControl: fault?.cacheControl ?? configuration.cacheControl,
            entityTag: configuration.sendsEntityTag && isGenuine && fault?.hidesEntityTag != true)
        if response.status == 304 { world.withLock { $0.counters.keySetNotModified += 1 } }
        return response
    }
}
