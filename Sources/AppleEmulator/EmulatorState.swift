import Synchronization

/// The fake Apple without its sockets: what the control API does, callable in process.
///
/// Every method is safe to call from anywhere at any time. Building a token takes about a millisecond, for
/// the RSA signature.
public final class EmulatorState: Sendable {
    let configuration: EmulatorConfiguration
    let clock: EmulatorClock
    let initialKeys: [SigningKey]
    let signer = TokenSigner()
    let world: Mutex<EmulatedWorld>
    /// The numbers of notifications that the courier is to try again.
    let awaitedRetries: AsyncStream<Int>
    let retries: AsyncStream<Int>.Continuation
    /// What the operator decided, at the start or since. The control API can change it until the next reset.
    private let start: Mutex<EmulatorStart>

    /// Throws `.configurationInvalid`.
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

    /// The emulator's time in milliseconds since 1970: its clock's, and what `advanceClock` added.
    public var now: Int64 { clock.now() + world.withLock { $0.clockOffset } }

    /// Moves the time of everything here ahead, for what takes minutes or months: codes, the throttle, transfers.
    ///
    /// Throws `.memberMalformed` for a step back, which Apple's time never takes, and for more than ten years.
    public func advanceClock(bySeconds seconds: Int64) throws(EmulatorError) {
        guard (0...Self.longestStep).contains(seconds) else {
            throw EmulatorError(
                .memberMalformed, detail: "advance_seconds: an integer in 0...\(Self.longestStep)")
        }
        try world.withLock { world throws(EmulatorError) in
            guard world.clockOffset <= Self.longestStep * 1000 else {
                throw EmulatorError(.memberMalformed, detail: "advance_seconds: ten years ahead are enough")
            }
            world.clockOffset += seconds * 1000
        }
    }

    private static let longestStep: Int64 = 315_360_000

    /// Goes on where an earlier run ended. Throws `.stateFileDamaged`.
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

    /// Hosts beyond loopback that a caller of the control API may have notifications posted to.
    var allowedHosts: Set<String> {
        let host = start.withLock { $0.notificationTarget?.host }
        return configuration.allowedNotificationHosts.union(host.map { [$0] } ?? [])
    }

    /// All users; the first is the default user.
    public var users: [EmulatedUser] { world.withLock { $0.users.users } }

    /// Throws `.userNotFound`. `nil` and `default` stand for the default user.
    public func user(_ subject: String?) throws(EmulatorError) -> EmulatedUser {
        try world.withLock { world throws(EmulatorError) in
            world.users[try world.users.find(subject).position]
        }
    }

    /// Throws `.userExists` and `.tooManyUsers`.
    public func makeUser(_ recipe: UserRecipe) throws(EmulatorError) -> EmulatedUser {
        try world.withLock { world throws(EmulatorError) in try world.users.make(recipe) }
    }

    /// `nil` clears the endpoint's fault.
    public func setFault(_ fault: EndpointFault?, on endpoint: EmulatedEndpoint) {
        world.withLock { $0.faults[endpoint] = fault }
    }

    public func clearFaults() {
        world.withLock { $0.faults = [:] }
    }

    /// Where notifications go from now on, also after a reset. In-process callers are trusted with any host.
    ///
    /// Throws `.notificationURLRefused` for what is no http(s) URL.
    public func setNotificationURL(_ url: String?) throws(EmulatorError) {
        var target: NotificationTarget?
        if let url { target = try .trusted(url) }
        start.withLock { $0.notificationTarget = target }
        setNotificationTarget(target)
    }

    /// Replaces the redirect URIs of the app that a client ID belongs to, as the configuration does: also after a reset.
    ///
    /// Throws what `setRedirectURIs(_:of:)` throws.
    public func configureRedirectURIs(_ uris: [String], of clientID: String) throws(EmulatorError) {
        try setRedirectURIs(uris, of: clientID)
        start.withLock { $0.setRedirectURIs(uris, of: clientID) }
    }

    /// Registers a key as the configuration does: also after a reset. One that is registered already stays so.
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

    /// Back to the start: the first keys, the default user alone, no faults, and the client keys, redirect URIs and receiver
    /// that the operator configured.
    public func reset() throws(EmulatorError) {
        let initial = try start.withLock { start throws(EmulatorError) in try start.world(keys: initialKeys) }
        world.withLock { $0 = initial }
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

    func count(_ refusal: OAuthRefusal, on endpoint: EmulatedEndpoint) {
        world.withLock { world in
            world.counters.refusals[endpoint, default: 0] += 1
            if refusal.code == .invalidClient { world.counters.clientSecretsRefused += 1 }
        }
    }

    func keySet(ifNoneMatch: String?, fault: EndpointFault?) -> EndpointAnswer {
        let isGenuine = fault.map { $0.answerKind == .genuine } ?? true
        return world.withLock { world in
            let answer = KeySetAnswer.make(
                KeySetDocument(keys: world.keys.published),
                ifNoneMatch: isGenuine && (fault?.status ?? 200) == 200 ? ifNoneMatch : nil,
                cacheControl: fault?.cacheControl ?? configuration.cacheControl,
                entityTag: configuration.sendsEntityTag && isGenuine && fault?.hidesEntityTag != true)
            if answer.status == 304 { world.counters.keySetNotModified += 1 }
            return answer
        }
    }
}
