import AsyncHTTPClient
import ServiceLifecycle

/// Shuts down the client for Apple when everybody who asks with it has stopped.
struct AppleClientService: Service {
    let client: HTTPClient

    func run() async throws {
        try? await gracefulShutdown()
        try await client.shutdown()
    }
}
