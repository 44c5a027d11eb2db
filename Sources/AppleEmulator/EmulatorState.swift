import JOSE
import Synchronization

/// The fake Apple without its sockets: what the control API does, callable in process.
///
/// Every method is safe to call from anywhere at any time. Building a token takes about a millisecond, for
/// the RSA signature.
public final class EmulatorState: Sendable {
    private let configuration: EmulatorConfiguration
    let clock: EmulatorClock
    private let initialKeys: [SigningKey]
    let signer = TokenSigner()
    let world: Mutex<EmulatedWorld>
    /// The receiver that the operator named. The control API can choose another until the next reset.
    private let operatorTarget: Mutex<NotificationTarget?>

    /// Throws `.configurationInvalid`.
    init(
        configuration: EmulatorConfiguration, keys: [SigningKey], clock: EmulatorClock
    ) throws(EmulatorError) {
        (self.configuration, self.clock, initialKeys) = (configuration, clock, keys)
        var target: NotificationTarget?
        if let url = configuration.notificationURL { target = try .trusted(url) }
        operatorTarget = Mutex(target)
        world = Mutex(
            try EmulatedWorld(apps: configuration.apps, keys: keys, notificationTarget: target))
    }

    public var apps: [EmulatedApp] { configuration.apps }
    public var counters: EmulatorCounters { world.withLock { $0.counters } }
    public var keys: [HeldKey] { world.withLock { $0.keys.keys } }
    public var faults: [EmulatedEndpoint: EndpointFault] { world.withLock { $0.faults } }
    public var notificationTarget: NotificationTarget? { world.withLock { $0.notificationTarget } }

    /// Hosts beyond loopback that a caller of the control API may have notifications posted to.
    var allowedHosts: Set<String> {
        let host = operatorTarget.withLock { $0?.host }
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
        operatorTarget.withLock { $0 = target }
        setNotificationTarget(target)
    }

    func setNotificationTarget(_ target: NotificationTarget?) {
        world.withLock { $0.notificationTarget = target }
    }

    public func clearCounters() {
        world.withLock { $0.counters = EmulatorCounters() }
    }

    /// Back to the start: the first keys, the default user alone, no faults, the operator's receiver.
    public func reset() throws(EmulatorError) {
        let initial = try EmulatedWorld(
            apps: configuration.apps, keys: initialKeys, notificationTarget: operatorTarget.withLock { $0 })
        world.withLock { $0 = initial }
    }

    func count(_ delivery: Delivery) {
        world.withLock { world in
            world.counters.deliveries += 1
            if case .answered(200, _) = delivery.outcome { return }
            world.counters.deliveriesRefused += 1
        }
    }

    func answerKeySetRequest(ifNoneMatch: String?) -> KeySetReply {
        world.withLock {
            $0.answerKeySetRequest(
                ifNoneMatch: ifNoneMatch, cacheControl: configuration.cacheControl,
                sendsEntityTag: configuration.sendsEntityTag)
        }
    }
}
