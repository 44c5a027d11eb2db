import KeySets
import ServiceLifecycle

/// Keeps Apple's key set fresh.
struct KeyRefreshService: Service {
    let keys: RemoteKeySet

    func run() async throws {
        await cancelWhenGracefulShutdown { await keys.run() }
    }
}
