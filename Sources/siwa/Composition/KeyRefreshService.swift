import AsyncHTTPClient
import KeySets
import ServiceLifecycle

/// Keeps Apple's key set fresh, and shuts down the client that fetches it.
struct KeyRefreshService: Service {
    let keys: RemoteKeySet
    let client: HTTPClient

    func run() async throws {
        await cancelWhenGracefulShutdown { await keys.run() }
        try await client.shutdown()
    }
}
