import AppleIDClient
import AsyncHTTPClient
import KeySets
import ServiceLifecycle

/// All connections to Apple, over one HTTP client: fetching the key set, and the calls that a team's key
/// authenticates.
struct AppleConnection {
    let keys: any VerificationKeys
    let tokens: AppleTokenClient
    let clock = AppleClock(millisecondsSince1970: ProcessObservation.millisecondsSince1970)
    /// The HTTP client for requests to Apple and Google.
    let client: HTTPClient
    private let remoteKeys: RemoteKeySet?

    /// - Parameter snapshots: The store of the last good key set. The initializer restores this set before it
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

    /// The services of the connection. Services stop in reverse order, so the HTTP client stops last.
    var services: [any Service] {
        [AppleClientService(client: client)] + (remoteKeys.map { [KeyRefreshService(keys: $0)] } ?? [])
    }
}

/// Shuts down the HTTP client for Apple after the services that use it have stopped.
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
