// GoogleEmulator owns a fake Google: an app that links accounts with an authorization server in the browser,
// by App Flip and by streamlined linking, with its own keys and with security events in both directions. It
// is only a client and never imports the authorization server, so the two cannot share a bug. It stores
// nothing on disk except the state file.

public import EmulatorServer
import Encodings
import Hummingbird
import JOSE
public import Logging
import Pages
public import ServiceLifecycle

/// The fake Google as a service: one HTTP server for its pages, its endpoints and the control API.
///
/// Bind it to loopback, because every client that can reach the service can read the tokens of all links.
public final class GoogleEmulatorService: Service {
    /// The control API's functions, for callers in the same process.
    public let state: GoogleState
    private let configuration: GoogleEmulatorConfiguration
    private let listener: EmulatorListener
    private let saver: StateSaver?
    private let lock: StateFileLock?

    /// Creates the emulator with the key in the state file, otherwise in the configuration, otherwise a new
    /// key. Throws `EmulatorError` if the configuration or the state file is unusable, and `JOSEError` if
    /// OpenSSL fails.
    public init(
        configuration: GoogleEmulatorConfiguration, clock: EmulatorClock,
        logger: Logger = Logger(label: "google")
    ) async throws {
        try configuration.check()
        let file = configuration.stateFile.map { path in
            StateFile<GoogleSnapshot>(path: path, firstWords: "siwa fake Google state 1 ")
        }
        lock = try file?.lock()
        let old = try file?.read()
        let keys = try old?.signingKeys() ?? [configuration.key ?? GoogleKey.generate()]
        state = GoogleState(configuration: configuration, keys: keys, clock: clock)
        if let old { state.restore(old) }
        saver = file.map { [state] file in
            StateSaver(logger: logger) { try file.write(state.snapshot()) }
        }
        // The file is written once here, so that an unwritable file causes an error at startup.
        try await saver?.save()
        self.configuration = configuration
        listener = EmulatorListener(host: configuration.host, port: configuration.port, logger: logger)
    }

    /// Waits until the server listens, and returns its port. Throws the listening error if it cannot listen.
    public func port() async throws -> Int {
        try await listener.boundPort()
    }

    /// Runs until the task is cancelled or a graceful shutdown begins.
    ///
    /// Throws `EmulatorListenError` if it cannot listen, and `.stateFileUnwritable`.
    public func run() async throws {
        defer { lock?.release() }
        try await listener.run(
            router(),
            onListening: { [state] port in state.update { $0.baseURL = "http://127.0.0.1:\(port)" } })
        try await saver?.save()
    }

    private func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: ProblemMiddleware { .refusalPage($0) })
        let hosts = AllowedHosts(configuration.hostNames + [configuration.host])
        router.add(middleware: ForeignPageMiddleware(hosts: hosts))
        if let saver {
            // These paths are redirect URIs, to which browsers send authorization responses by GET.
            router.add(middleware: SavingMiddleware(saver: saver, changingPaths: ["/r/", "/a/"]))
        }
        PageRoutes(state: state).add(to: router)
        ProtocolRoutes(state: state).add(to: router)
        EventStreamRoutes(state: state).add(to: router)
        let control = ControlAPI(router, at: "control", title: "Control API of the fake Google")
        ControlRoutes(state: state).add(to: control)
        control.describe(codes: EmulatorError.Code.ofFakeGoogle) { title, content in
            .page(.google, title) { content }
        }
        return router
    }
}
