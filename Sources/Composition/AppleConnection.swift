import AppleIDClient
import AsyncHTTPClient
import KeySets
import ServiceLifecycle

/// The service's access to Apple's endpoints. One HTTP client fetches the key set and makes the calls that a
/// team's key authenticates.
struct AppleConnection {
    let keys: any VerificationKeys
    let tokens: AppleTokenClient
    let clock = AppleClock(millisecondsSince1970: ProcessObservation.millisecondsSince1970)
    /// The HTTP client for requests to Apple and Google.
    let client: HTTPClient
    private let remoteKeys: RemoteKeySet?

    /// - Parameter snapshots: Stores the last valid key set, which the initializer restores before it
    ///   returns.
    init(
        settings: ServiceSettings, snapshots: any KeySetSnapshotStore, bounds: KeySetBounds
    ) async {
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        tokens = settings.tokenClient(over: client, clock: clock)
        switch settings.keySource {
        case .pinned(let pinned):
            remoteKeys = nil
            keys = pinned
        case .remote:
            let remote = RemoteKeySet(
                source: HTTPKeySetSource(
                    client: client, endpoints: settings.appleEndpoints, clock: clock),
                snapshots: snapshots, bounds: bounds)
            await remote.restore()
            remoteKeys = remote
            keys = remote
        }
    }

    /// The connection's services. Services stop in reverse order, so the HTTP client stops last.
    var services: [any Service] {
        [AppleClientService(client: client)] + (remoteKeys.map { [KeyRefreshService(keys: $0)] } ?? [])
    }
}

/// Shuts down the HTTP client for Apple once the services that use it have stopped.
struct AppleClientService: Service {
    let client: HTTPClient

    func run() async throws {
        try? await gracefulShutdown()
        try await client.shutdown()
    }
}

/// Refreshes Apple's key set in the background.
struct KeyRefreshService: Service {
    let keys: RemoteKeySet

    func run() async throws {
        await cancelWhenGracefulShutdown { await keys.run() }
    }
}
