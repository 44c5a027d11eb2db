// EmulatorServer owns the server code that the emulators share: listening and connections, control API
// requests and errors, protection against foreign pages, the page frame, the clock, and the state file. It
// owns neither the routes nor the content of the state.

import Encodings
package import Hummingbird
package import HummingbirdCore
package import Logging
import NIOCore

/// Listens on an emulator's address and serves its routes.
package struct EmulatorListener: Sendable {
    /// Maximum number of connections: more than any test opens, and below a process's open-file limit.
    private static let connectionLimit = 512
    private static let headerLimit = 16 * 1024

    private let host: String
    private let port: Int
    private let logger: Logger
    private let bound = BoundPort()

    package init(host: String, port: Int, logger: Logger) {
        (self.host, self.port, self.logger) = (host, port, logger)
    }

    /// Checks the address. Throws `.configurationInvalid` for an unusable port or allowed host name.
    package static func check(port: Int, hostNames: [String]) throws(EmulatorError) {
        for name in hostNames where !AllowedHosts.isName(name) {
            throw EmulatorError(
                .configurationInvalid,
                detail: "an allowed host must be a name or an address without a port, not \(name)")
        }
        guard (0...65535).contains(port) else {
            throw EmulatorError(.configurationInvalid, detail: "port must be 0 to 65535")
        }
    }

    /// Waits until the server listens, and returns its port. Throws the error if it cannot listen.
    package func boundPort() async throws -> Int {
        try await bound.value()
    }

    /// Runs until the task is cancelled or a graceful shutdown begins. Must be called once.
    ///
    /// - Parameters:
    ///   - now: Clock for the `Date` header, in milliseconds since 1970; `nil` to use the machine's clock.
    ///   - transport: Adds TLS to the server, if configured.
    ///   - onListening: Receives the port before `boundPort` returns.
    /// - Throws: `EmulatorListenError` if it cannot listen.
    package func run<Context: RequestContext>(
        _ router: Router<Context>, now: (@Sendable () -> Int64)? = nil,
        transport: (HTTPServerBuilder) throws -> HTTPServerBuilder = { $0 },
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws where Context.Source == ApplicationRequestContextSource {
        let plain = HTTPServerBuilder { responder in
            DeferredHTTPChannel(
                http: HTTP1Channel(responder: responder, configuration: Self.http), now: now)
        }
        do {
            let application = Application(
                router: router, server: try transport(plain),
                configuration: ApplicationConfiguration(
                    address: .hostname(host, port: port),
                    availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)),
                onServerRunning: { [bound] channel in
                    // An earlier shutdown has already closed the channel.
                    guard let port = channel.localAddress?.port else {
                        return bound.close(CancellationError())
                    }
                    onListening(port)
                    bound.bind(port)
                },
                logger: logger)
            try await application.run()
            bound.close(CancellationError())
        } catch {
            let error = listenError(error)
            bound.close(error)
            throw error
        }
    }

    /// Wraps a socket error. Only listening can cause it here, because a connection error ends only its
    /// connection.
    private func listenError(_ error: any Error) -> any Error {
        switch error {
        case is IOError, is SocketAddressError, is SocketAddressError.UnknownHost:
            EmulatorListenError(host: host, port: port, cause: error)
        default: error
        }
    }

    private static let http = HTTP1Channel.Configuration(
        idleTimeout: .seconds(60),
        httpDecoderConfiguration: .init(
            maxHeaderFieldSize: headerLimit, maxHeaderListSize: headerLimit, maxHeaderFieldCount: 100))
}

/// Reports that an emulator cannot listen on its address.
public struct EmulatorListenError: Error {
    public let host: String
    public let port: Int
    /// The operating system's error.
    public let cause: any Error
}
