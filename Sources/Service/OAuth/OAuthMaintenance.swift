import AuthorizationServer
public import Logging
public import ServiceLifecycle

/// Maintenance that each replica does once a minute: rotates the signing keys, loads keys that other replicas
/// made, and deletes expired codes, token families and events.
public struct OAuthMaintenance: Service {
    private let server: OAuthServer
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter clock: The clock that measures the interval.
    public init(
        server: OAuthServer, interval: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        (self.server, self.interval, self.clock, self.logger) = (server, interval, clock, logger)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await refreshKeys()
                await purgeGrants()
                try? await clock.sleep(for: interval)
            }
        }
    }

    func refreshKeys() async {
        await SigningKeyRotation(keys: server.dependencies.keys, logger: logger).refresh()
    }

    /// Deletes in bounded steps, so that token requests can be committed between steps.
    func purgeGrants() async {
        do {
            while try await server.dependencies.store.purgeGrants(at: server.now()) > 0, !Task.isCancelled {}
        } catch {
            // The next run retries the purge. Until then the remaining rows only take up space.
            logger.warning("grants were not purged", metadata: ["error": "\(error)"])
        }
    }
}

/// Creates signing keys when they are due, and loads keys that other replicas made, once a minute in each
/// replica. Services without OAuth clients use this type; with OAuth clients, `OAuthMaintenance` does the
/// same work.
public struct SigningKeyRotation: Service {
    private let keys: SigningKeys
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter clock: The clock that measures the interval.
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
            // The keys in memory stay in use, and the next refresh tries again.
            logger.warning("signing keys were not refreshed", metadata: ["error": "\(error)"])
        }
    }
}
