public import AppAttestation
public import AppleAccounts
public import Commits
public import Logging
public import ServiceLifecycle

/// Periodic work: deletes expired nonces, tickets and transfers, old counts of App Check, and keys of App
/// Attest that are not used. Ends waiting event readers at shutdown.
public struct Maintenance: Service {
    public typealias Store = AccountStore & TicketStore & TransferStore & AppAttestStore & AppCheckHourStore

    private let store: any Store
    private let feed: EventFeed
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let logger: Logger

    public init(
        store: any Store, feed: EventFeed,
        interval: Duration = .seconds(60),
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.store = store
        self.feed = feed
        self.interval = interval
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    public func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    await purgeNonces()
                    await purgeTickets()
                    await purgeTransfers()
                    await purgeAppCheckHours()
                    await purgeAttestedKeys()
                    try? await clock.sleep(for: interval)
                }
            }
        } onCancelOrGracefulShutdown: {
            feed.close()
        }
    }

    /// Deletes in bounded steps, so that sign-ins are committed in between.
    func purgeNonces() async {
        do {
            while try await store.purgeNonces(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            // The purge is retried. Rows that are not deleted only take space.
            logger.warning("nonces were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes expired tickets. A ticket is checked against the current time when it is used, so an expired
    /// ticket is useless.
    func purgeTickets() async {
        do {
            while try await store.purgeTickets(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("tickets were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes expired transfers. Apple forgets the identifiers at the same time, so no sign-in can present
    /// them any more. They identify users of another team.
    func purgeTransfers() async {
        do {
            while try await store.purgeTransfers(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("transfers were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes the hours of App Check that are more than seven days old.
    func purgeAppCheckHours() async {
        let end = AppCheckHour.beginning(of: now().milliseconds / 1000) - AppCheckHour.kept
        do {
            while try await store.purgeAppCheckHours(before: end) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("counts of App Check were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes keys that have not been used for long. Their apps attest new keys.
    func purgeAttestedKeys() async {
        let moment = now().advanced(byMilliseconds: -AttestedKeyRecord.keptUnused)
        do {
            while try await store.purgeAttestedKeys(unusedSince: moment) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("attested keys were not purged", metadata: ["error": "\(error)"])
        }
    }
}
