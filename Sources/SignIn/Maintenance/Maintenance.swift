public import AppleAccounts
public import Logging
public import ServiceLifecycle

/// What has to be done from time to time: forgetting nonces, tickets and transfers whose time is over. Ends
/// waiting readers at shutdown.
public struct Maintenance: Service {
    private let store: any AccountStore & TicketStore & TransferStore
    private let feed: EventFeed
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let logger: Logger

    public init(
        store: any AccountStore & TicketStore & TransferStore, feed: EventFeed,
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
                    try? await clock.sleep(for: interval)
                }
            }
        } onCancelOrGracefulShutdown: {
            feed.close()
        }
    }

    /// In bounded steps, so that sign-ins get in between.
    func purgeNonces() async {
        do {
            while try await store.purgeNonces(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            // It is tried again; what is not purged does no harm but room.
            logger.warning("nonces were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// A ticket is taken with the present moment, so that one whose time is over is of no use to anybody.
    func purgeTickets() async {
        do {
            while try await store.purgeTickets(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("tickets were not purged", metadata: ["error": "\(error)"])
        }
    }
    /// Apple forgets the identifiers at the same time, so that no sign-in can show one any more; and they are
    /// other people's names.
    func purgeTransfers() async {
        do {
            while try await store.purgeTransfers(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("transfers were not purged", metadata: ["error": "\(error)"])
        }
    }
}
