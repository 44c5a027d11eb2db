import AppleIDClient
import AsyncHTTPClient
import KeySets
import ServiceLifecycle

/// Everything that the service asks Apple for, over one HTTP client: the keys, and what is called in a team's name.
struct AppleConnection {
    let keys: any VerificationKeys
    let tokens: AppleTokenClient
    private let client: HTTPClient
    private let remoteKeys: RemoteKeySet?

    /// - Parameter snapshots: Keep the last good keys over a restart. They are restored when this returns.
    init(
        settings: ServiceSettings, snapshots: any KeySetSnapshotStore, bounds: KeySetBounds
    ) async {
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        tokens = settings.tokenClient(over: client)
        switch settings.keySource {
        case .pinned(let pinned):
            remoteKeys = nil
            keys = pinned
        case .remote:
            let remote = RemoteKeySet(
                source: AppleKeySetSource(client: client, endpoints: settings.appleEndpoints),
                snapshots: snapshots, bounds: bounds)
            await remote.restore()
            remoteKeys = remote
            keys = remote
        }
    }

    /// The client goes last, when nobody asks any more.
    var services: [any Service] {
        [AppleClientService(client: client)] + (remoteKeys.map { [KeyRefreshService(keys: $0)] } ?? [])
    }
}
