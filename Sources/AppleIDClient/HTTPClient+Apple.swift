public import AsyncHTTPClient
import NIOCore

extension HTTPClient.Configuration {
    /// The configuration of the HTTP client for requests to Apple, one per process. It follows no redirect,
    /// decompresses nothing, and sets the time limits that only the client can enforce. The owner of the
    /// client shuts it down.
    public static func apple(_ limits: AppleTimeLimits = AppleTimeLimits()) -> HTTPClient.Configuration {
        HTTPClient.Configuration(
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
    }
}
