// ReceiverEmulator owns fake receivers for the service's events: a webhook, and security event tokens by
// push. It verifies each message, shows the latest messages on a page and as JSON, and fails on demand. It is
// only a server for the service, and never imports the code that creates the messages, so the two cannot
// share a bug. It stores nothing on disk.

public import EmulatorServer
import Encodings
import Hummingbird
import HummingbirdTLS
public import Logging
import NIOCore
import Pages
public import ServiceLifecycle

/// The fake receivers as a service: one HTTP server for the receivers, the page and the control API, and a
/// second server for TLS, if configured.
public final class ReceiverEmulatorService: Service {
    /// The control API's functions, for callers in the same process.
    public let state: ReceiverState
    private let configuration: ReceiverEmulatorConfiguration
    private let listener: EmulatorListener
    private let secureListener: EmulatorListener?

    /// Creates the service. Throws `.configurationInvalid` if the configuration is unusable.
    public init(
        configuration: ReceiverEmulatorConfiguration, clock: EmulatorClock,
        logger: Logger = Logger(label: "receivers")
    ) throws(EmulatorError) {
        state = ReceiverState(
            checks: try configuration.checks(), hasTLS: configuration.tls != nil, clock: clock)
        self.configuration = configuration
        listener = EmulatorListener(host: configuration.host, port: configuration.port, logger: logger)
        secureListener = configuration.tls.map { _ in
            EmulatorListener(host: configuration.host, port: 0, logger: logger)
        }
    }

    /// Waits until the server listens, and returns its port. Throws the listening error if it cannot listen.
    public func port() async throws -> Int { try await listener.boundPort() }

    /// Waits for the TLS server's port; `nil` if no certificate is configured.
    public func securePort() async throws -> Int? { try await secureListener?.boundPort() }

    /// Runs until the task is cancelled or a graceful shutdown begins. Must be called once.
    ///
    /// Throws `EmulatorListenError` if it cannot listen.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                try await listener.run(router())
            }
            if let secureListener, let tls = configuration.tls {
                group.addTask { [self] in
                    try await secureListener.run(
                        router(), transport: { try .tls($0, tlsConfiguration: tls.configuration(of: state)) })
                }
            }
            // If one server cannot listen, the other server must stop too.
            defer { group.cancelAll() }
            for try await _ in group {}
        }
    }

    private func router() -> Router<ReceiverRequestContext> {
        let router = Router(context: ReceiverRequestContext.self)
        router.add(middleware: ProblemMiddleware { .refusalPage($0) })
        let hosts = AllowedHosts(configuration.hostNames + [configuration.host])
        router.add(middleware: ForeignPageMiddleware(hosts: hosts))
        ReceiverRoutes(state: state).add(to: router)
        PageRoutes(state: state).add(to: router)
        let control = ControlAPI(router, at: "control", title: "Control API of the receivers")
        ControlRoutes(state: state).add(to: control)
        control.describe(codes: EmulatorError.Code.ofReceivers) { title, content in
            .page(title) { content }
        }
        return router
    }
}

/// A request context that includes the connection, so that a fault can close it.
struct ReceiverRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
