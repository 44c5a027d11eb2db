import AsyncHTTPClient
import ServiceLifecycle

/// Shuts down the HTTP client for Apple after the services that use it have stopped.
struct AppleClientService: Service {
    let client: HTTPClient

    func run() async throws {
        try? await gracefulShutdown()
        try await client.shutdown()
    }
}
