import AuthorizationServer
public import Logging
public import ServiceLifecycle

/// Periodic work, every minute in each replica: rotates the signing keys, loads keys that other replicas
/// made, and deletes codes, token families and events past their time.
public struct OAuthMaintenance: Service {
    private let server: OAuthServer
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter clock: The clock of the pauses.
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

    /// Deletes in bounded steps, so that tokens can be issued between the steps.
    func purgeGrants() async {
        do {
            while try await server.dependencies.store.purgeGrants(at: server.now()) > 0, !Task.isCancelled {}
        } catch {
            // The purge is retried. Rows that were not deleted only take space.
            logger.warning("grants were not purged", metadata: ["error": "\(error)"])
        }
    }
}

/// Makes signing keys that are due, and loads keys that other replicas made, every minute in each replica.
/// For services without OAuth clients; `OAuthMaintenance` does the same for services with OAuth clients.
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
            // The keys in memory continue to sign, and the next refresh tries again.
            logger.warning("signing keys were not refreshed", metadata: ["error": "\(error)"])
        }
    }
}
