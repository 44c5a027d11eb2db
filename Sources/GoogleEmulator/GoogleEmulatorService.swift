// GoogleEmulator owns a fake Google: an app that links accounts with an authorization server, by the browser,
// by App Flip and by streamlined linking, with keys of its own and with security events in both directions.
// It is only a client: it never imports what decides about grants, so that it does not share its bugs. It
// stores nothing on disk except the state file.

import EmulatorServer
import ForeignPages
import Hummingbird
import HummingbirdCore
import JOSE
public import Logging
import NIOCore
public import ServiceLifecycle

/// The fake Google as a service: one HTTP server for its pages, its endpoints and the control API.
///
/// Bind it to loopback: every client that can reach it can read the tokens of all links.
public final class GoogleEmulatorService: Service {
    /// More connections than any test opens, and fewer than the open files of a process.
    private static let connectionLimit = 512
    private static let headerLimit = 16 * 1024

    /// The functions of the control API, for callers in the same process.
    public let state: GoogleState
    private let configuration: GoogleEmulatorConfiguration
    private let logger: Logger
    private let boundPort = BoundPort()
    private let saver: StateSaver?
    private let lock: StateFileLock?

    /// Makes a key unless the configuration or the state file has one. Throws `GoogleEmulatorError` and
    /// `JOSEError`.
    public init(
        configuration: GoogleEmulatorConfiguration, clock: GoogleClock,
        logger: Logger = Logger(label: "google")
    ) async throws {
        try configuration.check()
        let file = configuration.stateFile.map { GoogleFile(path: $0) }
        lock = try file?.lock()
        let old = try file?.read()
        let keys = try old?.signingKeys() ?? [configuration.key ?? GoogleKey.generate()]
        state = GoogleState(configuration: configuration, keys: keys, clock: clock)
        if let old { state.restore(old) }
        saver = file.map { [state] file in
            StateSaver(logger: logger) { try file.write(state.snapshot()) }
        }
        // Checks at the start that the file can be written.
        try await saver?.save()
        (self.configuration, self.logger) = (configuration, logger)
    }

    /// Waits until the server listens, and returns its port. Throws the error when it cannot listen.
    public func port() async throws -> Int {
        try await boundPort.value()
    }

    /// Runs until the task is cancelled or a graceful shutdown begins.
    ///
    /// Throws `EmulatorListenError` when it cannot listen, and `.stateFileUnwritable`.
    public func run() async throws {
        defer { lock?.release() }
        let http = HTTP1Channel.Configuration(
            idleTimeout: .seconds(60),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: Self.headerLimit, maxHeaderListSize: Self.headerLimit,
                maxHeaderFieldCount: 100))
        let application = Application(
            router: router(),
            server: HTTPServerBuilder { responder in
                DeferredHTTPChannel(http: HTTP1Channel(responder: responder, configuration: http))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)),
            onServerRunning: { [boundPort, state] channel in
                // An earlier shutdown has closed the channel.
                guard let port = channel.localAddress?.port else {
                    return boundPort.close(CancellationError())
                }
                state.update { $0.baseURL = "http://127.0.0.1:\(port)" }
                boundPort.bind(port)
            },
            logger: logger)
        do {
            try await application.run()
            try await saver?.save()
            boundPort.close(CancellationError())
        } catch let error
            where error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
        {
            // These errors can only come from listening: errors of a connection end only that connection.
            let error = EmulatorListenError(
                host: configuration.host, port: configuration.port, cause: error)
            boundPort.close(error)
            throw error
        } catch {
            boundPort.close(error)
            throw error
        }
    }

    private func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: ProblemMiddleware())
        let hosts = AllowedHosts(configuration.hostNames + [configuration.host])
        router.add(middleware: ForeignPageMiddleware(check: ForeignPageCheck(hosts: hosts)))
        if let saver { router.add(middleware: SavingMiddleware(saver: saver)) }
        PageRoutes(state: state).add(to: router)
        ProtocolRoutes(state: state).add(to: router)
        ControlRoutes(state: state).add(to: router.group("control").add(middleware: ToolMiddleware()))
        return router
    }
}
