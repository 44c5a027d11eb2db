public import Logging
public import ServiceLifecycle

/// Makes signing keys that are due, and loads keys that other replicas made, every minute in each replica. For
/// services without OAuth clients; `OAuthMaintenance` does the same for the others.
public struct SigningKeyRotation: Service {
    private let keys: SigningKeys
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter clock: The clock of the pauses.
    public init(
        keys: SigningKeys, interval: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger
    ) {
        (self.keys, self.interval, self.clock, self.logger) = (keys, interval, clock, logger)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await refresh()
                try? await clock.sleep(for: interval)
            }
        }
    }

    func refresh() async {
        do {
            try await keys.refresh()
        } catch {
            // The keys in memory go on signing, and the next refresh tries again.
            logger.warning("signing keys were not refreshed", metadata: ["error": "\(error)"])
        }
    }
}
