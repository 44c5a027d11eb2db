public import Logging
public import ServiceLifecycle

/// Rotates the signing keys, and learns of keys that other replicas made. Looks every minute.
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
                do {
                    try await keys.refresh()
                } catch {
                    // The keys in memory go on signing, and the next look tries again.
                    logger.warning("signing keys were not refreshed", metadata: ["error": "\(error)"])
                }
                try? await clock.sleep(for: interval)
            }
        }
    }
}
