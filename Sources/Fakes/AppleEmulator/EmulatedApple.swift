// AppleEmulator owns a fake Apple: the endpoints of Sign in with Apple, users with Apple Accounts, signing
// keys that rotate, and a control API under /emulator that mints valid and forged tokens, sends notifications
// and injects faults. It signs with JOSE and never imports the verifiers, so the two cannot share a bug. It
// owns no rule about which tokens a service accepts. It stores nothing on disk except the state file.

public import EmulatorServer
import Hummingbird
import HummingbirdTLS
public import Logging
import Pages
public import ServiceLifecycle
import Synchronization

/// The fake Apple as a service: one HTTP server for Apple's endpoints and the control API.
///
/// Its tokens name Apple as their issuer, so only the keys differ. Bind it to loopback, because every client
/// that can reach the emulator can sign in as any user of a service that trusts its keys.
public final class EmulatedApple: Service {
    /// The control API's functions, for callers in the same process.
    public let state: EmulatorState
    private let configuration: EmulatorConfiguration
    private let listener: EmulatorListener
    private let saver: StateSaver?
    private let lock: StateFileLock?

    /// Creates the emulator with the keys in the configuration, otherwise in the state file, otherwise new
    /// keys. Throws `EmulatorError` if the configuration or the state file is unusable.
    public init(
        configuration: EmulatorConfiguration, clock: EmulatorClock, logger: Logger = Logger(label: "emulator")
    ) async throws {
        try configuration.check()
        let file = configuration.stateFile.map { path in
            StateFile<WorldSnapshot>(path: path, firstWords: "siwa emulator state 1 ")
        }
        lock = try file?.lock()
        let old = try file?.read()
        var keys = configuration.keys
        // The file's keys also become the initial keys, because a reset must restore them.
        if keys.isEmpty, let old { keys = try old.signingKeys() }
        if keys.isEmpty { keys = (0..<configuration.keyCount).map { _ in SigningKey() } }
        // The file contains the keys.
        if file != nil { try await SigningKey.generate(keys) }
        state = try EmulatorState(configuration: configuration, keys: keys, clock: clock)
        if let old { try state.restore(old) }
        saver = file.map { [state] file in
            StateSaver(logger: logger) { try file.write(await WorldSnapshot(state.world.withLock { $0 })) }
        }
        // Writes the file once, so that an unwritable file is noticed at startup.
        try await saver?.save()
        self.configuration = configuration
        listener = EmulatorListener(host: configuration.host, port: configuration.port, logger: logger)
    }

    /// Waits until the server listens, and returns its port. Throws the listening error if it cannot listen.
    public func port() async throws -> Int {
        try await listener.boundPort()
    }

    /// Posts a notification's payload to the notification URL, as the control API does, and counts it.
    ///
    /// The result contains the receiver's response. Throws `.notificationURLMissing` if no URL is set.
    public func deliver(_ payload: String) async throws(EmulatorError) -> Delivery {
        guard let target = state.notificationTarget else { throw EmulatorError(.notificationURLMissing) }
        return await NotificationDispatcher(state: state).deliver(payload, to: target)
    }

    /// Changes a user's account, and notifies the affected apps according to the delivery plan. Sends nothing
    /// if there is no notification URL.
    ///
    /// Throws `.userNotFound`, `.noSigningKey`, `.tokenUnsignable` and `.keyGenerationFailed`.
    @discardableResult
    public func carryOut(
        _ change: AccountChange, notifying recipe: NotificationRecipe = NotificationRecipe()
    ) async throws(EmulatorError) -> [Delivery] {
        let post = NotificationDispatcher(state: state)
        var deliveries: [Delivery] = []
        for notification in try await state.change(change, notifying: recipe).notifications {
            let sent = await post.announce(notification, to: state.notificationTarget)
            if let delivery = sent.delivery { deliveries.append(delivery) }
        }
        return deliveries
    }

    /// Posts the held notifications in this order. Returns the delivery of each notification's first copy.
    @discardableResult
    public func release(_ order: ReleaseOrder) async -> [Delivery] {
        let post = NotificationDispatcher(state: state)
        var deliveries: [Delivery] = []
        for held in state.release(order) {
            let sent = await post.send(held.notification, to: held.target)
            if let delivery = sent.delivery { deliveries.append(delivery) }
        }
        return deliveries
    }

    /// Runs until the task is cancelled or a graceful shutdown begins. Must be called once.
    ///
    /// Throws `EmulatorListenError` if it cannot listen, and `.stateFileUnwritable`.
    public func run() async throws {
        defer { lock?.release() }
        let retries = NotificationRetries(state: state, post: NotificationDispatcher(state: state))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await retries.run() }
            defer { group.cancelAll() }
            try await listener.run(
                router(), now: { [state] in state.now },
                transport: { plain in
                    try configuration.tls.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain
                })
        }
        try await saver?.save()
    }

    private func router() -> Router<EmulatorRequestContext> {
        let router = Router(context: EmulatorRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware { EndpointResponse.refusalPage($0).hummingbird })
        router.add(middleware: ForeignPageMiddleware(hosts: configuration.allowedHosts))
        // No path is listed, because the only GET request that changes the state opens a page of the web
        // flow, and the file does not contain open pages.
        if let saver { router.add(middleware: SavingMiddleware(saver: saver, changingPaths: [])) }
        KeySetEndpoint(state: state).add(to: router)
        DiscoveryEndpoint(state: state).add(to: router)
        AuthorizeEndpoint(state: state).add(to: router)
        TokenEndpoint(state: state).add(to: router)
        RevokeEndpoint(state: state).add(to: router)
        MigrationEndpoint(state: state).add(to: router)
        AttestationDataEndpoint(state: state).add(to: router)
        let control = ControlAPI(
            router, at: "emulator", title: "Control API of the fake Apple", scheme: configuration.scheme,
            hasText: true)
        let post = NotificationDispatcher(state: state)
        AccountsRoute(state: state, post: post).add(to: router)
        StateRoutes(state: state).add(to: control)
        UserRoutes(state: state, post: post).add(to: control)
        TokenRoutes(state: state, post: post).add(to: control)
        KeyRoutes(state: state).add(to: control)
        DeviceKeyRoutes(state: state).add(to: control)
        TeamRoutes(state: state).add(to: control)
        FaultRoutes(state: state).add(to: control)
        OutboxRoutes(state: state, post: post).add(to: control)
        control.describe(codes: EmulatorError.Code.ofFakeApple) { title, content in
            EndpointResponse.page(title, isWide: true) { content }.hummingbird
        }
        return router
    }
}
