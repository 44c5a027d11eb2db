// This target owns a fake Apple: the endpoints that Sign in with Apple talks to, people with Apple Accounts,
// signing keys that rotate, and a control API under /emulator that mints tokens (good and bad), sends
// notifications and makes the endpoints misbehave. It signs with JOSE and never imports what verifies: it
// must not share the verifier's bugs. It does not own any rule about what a service should accept, and it keeps nothing
// on disk but the state file that it is given.

import ForeignPages
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
public import ServiceLifecycle

/// The fake Apple as a service: one HTTP server for Apple's endpoints and for the control API.
///
/// Its issuer is Apple's own, so only the keys tell it from Apple. Bind it to loopback: whoever reaches it
/// can sign in as anybody in a service that trusts its keys.
public final class EmulatedApple: Service {
    /// More connections than any test opens, fewer than the descriptors of a process.
    private static let connectionLimit = 512
    private static let headerLimit = 16 * 1024

    /// What the control API does, callable in process.
    public let state: EmulatorState
    private let configuration: EmulatorConfiguration
    private let logger: Logger
    private let boundPort = BoundPort()
    private let saver: StateSaver?

    /// Makes the keys, unless the configuration brings some. Throws `EmulatorError`.
    public init(
        configuration: EmulatorConfiguration, clock: EmulatorClock, logger: Logger = Logger(label: "emulator")
    ) async throws {
        try configuration.check()
        let file = configuration.stateFile.map { StateFile(path: $0) }
        let old = try file?.read()
        var keys = configuration.keys
        // The file has keys already, but a reset must have some to go back to.
        if keys.isEmpty, let old { keys = try old.signingKeys() }
        if keys.isEmpty { keys = try await SigningKey.generate(count: configuration.keyCount) }
        state = try EmulatorState(configuration: configuration, keys: keys, clock: clock)
        if let old { try state.restore(old) }
        saver = file.map { [state] in StateSaver(state: state, file: $0, logger: logger) }
        // A file that cannot be written is found out now, and not by the first caller.
        try await saver?.save()
        (self.configuration, self.logger) = (configuration, logger)
    }

    /// The port that it listens on; waits until it does. Throws what kept it from listening.
    public func port() async throws -> Int {
        try await boundPort.value()
    }

    /// Posts a notification's payload to the notification URL, as the control API does, and counts it.
    ///
    /// Throws `.notificationURLMissing`. What the receiver does is in the answer.
    public func deliver(_ payload: String) async throws(EmulatorError) -> Delivery {
        guard let target = state.notificationTarget else { throw EmulatorError(.notificationURLMissing) }
        return await NotificationPost(state: state).deliver(payload, to: target)
    }

    /// Does what a user asked Apple for, and tells the apps concerned as the delivery plan says. Nobody is told without a
    /// notification URL.
    ///
    /// Throws `.userNotFound`, `.noSigningKey` and `.tokenUnsignable`.
    @discardableResult
    public func carryOut(
        _ change: AccountChange, notifying recipe: NotificationRecipe = NotificationRecipe()
    ) async throws(EmulatorError) -> [Delivery] {
        let post = NotificationPost(state: state)
        var deliveries: [Delivery] = []
        for notification in try state.change(change, notifying: recipe).notifications {
            let sent = await post.announce(notification, to: state.notificationTarget)
            if let delivery = sent.delivery { deliveries.append(delivery) }
        }
        return deliveries
    }

    /// Serves until the task is cancelled or a graceful shutdown begins. Call it once.
    ///
    /// Throws `EmulatorListenError` when it cannot listen, and `.stateFileUnwritable`.
    public func run() async throws {
        let plain = HTTPServerBuilder { responder in
            DeferredHTTPChannel(http: HTTP1Channel(responder: responder, configuration: Self.http))
        }
        let application = Application(
            router: router(),
            server: try configuration.tls.map { try .tls(plain, tlsConfiguration: $0.configuration) }
                ?? plain,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)),
            onServerRunning: { [boundPort] channel in
                // A shutdown that began before has closed it.
                guard let port = channel.localAddress?.port else {
                    return boundPort.close(CancellationError())
                }
                boundPort.bind(port)
            },
            logger: logger)
        do {
            let courier = NotificationCourier(state: state, post: NotificationPost(state: state))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await courier.run() }
                defer { group.cancelAll() }
                try await serve(application)
            }
            try await saver?.save()
            boundPort.close(CancellationError())
        } catch {
            boundPort.close(error)
            throw error
        }
    }

    private func serve(_ application: some ApplicationProtocol) async throws {
        do {
            try await application.run()
        } catch let error where error is IOError || error is SocketAddressError {
            // What goes wrong with a connection later ends that connection only.
            throw EmulatorListenError(host: configuration.host, port: configuration.port, cause: error)
        }
    }

    private static let http = HTTP1Channel.Configuration(
        idleTimeout: .seconds(60),
        httpDecoderConfiguration: .init(
            maxHeaderFieldSize: headerLimit, maxHeaderListSize: headerLimit, maxHeaderFieldCount: 100))

    private func router() -> Router<EmulatorRequestContext> {
        let router = Router(context: EmulatorRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware())
        router.add(
            middleware: ForeignPageMiddleware(check: ForeignPageCheck(hosts: configuration.allowedHosts)))
        if let saver { router.add(middleware: SavingMiddleware(saver: saver)) }
        KeySetEndpoint(state: state).add(to: router)
        DiscoveryEndpoint(state: state).add(to: router)
        AuthorizeEndpoint(state: state).add(to: router)
        TokenEndpoint(state: state).add(to: router)
        RevokeEndpoint(state: state).add(to: router)
        MigrationEndpoint(state: state).add(to: router)
        let control = router.group("emulator").add(middleware: BrowserMiddleware())
        let post = NotificationPost(state: state)
        AccountsRoute(state: state, post: post).add(to: router)
        StateRoutes(state: state).add(to: control)
        UserRoutes(state: state, post: post).add(to: control)
        TokenRoutes(state: state, post: post).add(to: control)
        KeyRoutes(state: state).add(to: control)
        TeamRoutes(state: state).add(to: control)
        FaultRoutes(state: state).add(to: control)
        OutboxRoutes(state: state, post: post).add(to: control)
        return router
    }
}
