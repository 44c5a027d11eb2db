public import AsyncHTTPClient
import NIOCore
import OutgoingHTTP

/// The time limits of a request to Apple.
public struct AppleTimeLimits: Sendable, Equatable {
    /// Time for the connection, including TLS: 5 seconds.
    public let connect: Duration
    /// Time without a byte arriving: 5 seconds.
    public let read: Duration
    /// Time for the request and the whole response: 10 seconds. Without this limit, a response that arrives
    /// byte by byte would keep a request open forever.
    public let total: Duration

    public init(
        connect: Duration = .seconds(5), read: Duration = .seconds(5), total: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.read = read
        self.total = total
    }
}

extension HTTPClient.Configuration {
    /// The configuration of the HTTP client for requests to Apple, one per process. It follows no redirect,
    /// decompresses nothing, bounds what comes beside a body, and sets the time limits that only the client can enforce. The owner of the
    /// client shuts it down.
    public static func apple(_ limits: AppleTimeLimits = AppleTimeLimits()) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: Timeout(
                connect: TimeAmount(limits.connect), read: TimeAmount(limits.read),
                write: TimeAmount(limits.read)),
            connectionPool: ConnectionPool(
                // Longer than the pause between two daily checks, and shorter than servers keep an idle
                // connection. A request on a connection that the server has just closed is lost, and with it
                // the code that it carries.
                idleTimeout: .seconds(10),
                // As many connections as there are concurrent workers, so that no worker waits for the slow
                // response of another.
                concurrentHTTP1ConnectionsPerHostSoftLimit: 32),
            decompression: .disabled)
        // `OutgoingRequestSpan` makes the spans, without values of a URL or a header.
        configuration.tracing.tracer = nil
        configuration.boundResponses()
        return configuration
    }
}
