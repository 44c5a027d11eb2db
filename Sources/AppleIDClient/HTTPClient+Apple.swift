public import AsyncHTTPClient
import NIOCore

extension HTTPClient.Configuration {
    /// For the one client that a process asks Apple with: follows no redirect, decompresses nothing, and
    /// bounds the parts of a request that only a client can. Whoever makes the client shuts it down.
    public static func apple(_ limits: AppleTimeLimits = AppleTimeLimits()) -> HTTPClient.Configuration {
        HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: Timeout(
                connect: TimeAmount(limits.connect), read: TimeAmount(limits.read),
                write: TimeAmount(limits.read)),
            connectionPool: ConnectionPool(
                // Longer than the pause between two daily checks and shorter than servers keep a connection: a request
                // on one that was just closed is lost, and a code with it.
                idleTimeout: .seconds(10),
                // As many as workers ask at once, so that none waits for another's slow answer.
                concurrentHTTP1ConnectionsPerHostSoftLimit: 32),
            decompression: .disabled)
    }
}
