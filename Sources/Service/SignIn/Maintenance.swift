public import AppAttestation
public import AppleAccounts
public import Commits
public import Logging
public import ServiceLifecycle
import Synchronization

/// Periodic maintenance: deletes expired nonces, tickets and transfers, old App Check counts, unused App
/// Attest keys, and old account history entries. Enables accounts whose disabling has ended. Ends the waits
/// of event readers at shutdown.
public struct Maintenance: Service {
    public typealias Store = AccountStore & TicketStore & TransferStore & AppAttestStore & AppCheckHourStore
        & AuditStore & ServiceHourStore

    private let store: any Store
    private let commits: GroupCommit<AccountCommand>
    private let feed: EventFeed
    private let audit: AuditRetention
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let logger: Logger

    /// - Parameters:
    ///   - auditKeptFor: Audit log retention time in milliseconds.
    ///   - secondsAhead: Returns the number of seconds that `now` is ahead of Apple's time; `nil` while
    ///     unknown.
    public init(
        store: any Store, commits: GroupCommit<AccountCommand>, feed: EventFeed,
        auditKeptFor: Int64 = 400 * 86_400_000, interval: Duration = .seconds(60),
        clock: any Clock<Duration>, secondsAhead: @escaping @Sendable () -> Int64?,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.store = store
        self.commits = commits
        self.feed = feed
        audit = AuditRetention(
            store: store, keptFor: auditKeptFor, secondsAhead: secondsAhead, clock: clock, now: now)
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
                    await purgeServiceHours()
                    await purgeAttestedKeys()
                    await purgeAudit()
                    await purgeHistory()
                    await enableAccounts()
                    try? await clock.sleep(for: interval)
                }
            }
        } onCancelOrGracefulShutdown: {
            feed.close()
        }
    }

    /// Deletes expired nonces in bounded steps, so that sign-ins can be committed between steps.
    func purgeNonces() async {
        do {
            while try await store.purgeNonces(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            // The next run retries the purge. Until then the remaining rows only take up space.
            logger.warning("nonces were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes expired tickets. They are already unusable, because each use of a ticket checks its expiry.
    func purgeTickets() async {
        do {
            while try await store.purgeTickets(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("tickets were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes expired transfers, because they identify another team's users. Apple forgets the transfer
    /// identifiers at the same time, so no later sign-in can present them.
    func purgeTransfers() async {
        do {
            while try await store.purgeTransfers(expiredBefore: now()) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("transfers were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes hourly App Check counts after seven days.
    func purgeAppCheckHours() async {
        let end = AppCheckHour.beginning(of: now().milliseconds / 1000) - AppCheckHour.kept
        do {
            while try await store.purgeAppCheckHours(before: end) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("counts of App Check were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes the service's hourly numbers after seven days.
    func purgeServiceHours() async {
        let end = ServiceHourCount.beginning(of: now()).advanced(byMilliseconds: -ServiceHourCount.kept)
        do {
            while try await store.purgeServiceHours(before: end) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("numbers of the console were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes keys that have not been used for a long time. Their apps can attest new keys.
    func purgeAttestedKeys() async {
        let moment = now().advanced(byMilliseconds: -AttestedKeyRecord.keptUnused)
        do {
            while try await store.purgeAttestedKeys(unusedSince: moment) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("attested keys were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes audit log rows after their retention time.
    func purgeAudit() async {
        do {
            try await audit.purge()
        } catch {
            logger.warning("the audit log was not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes account history entries after 90 days. An erasure deletes its account's entries immediately.
    func purgeHistory() async {
        let moment = now().advanced(byMilliseconds: -HistoryEntry.keptFor)
        do {
            while try await store.purgeHistory(before: moment) > 0, !Task.isCancelled {}
        } catch {
            logger.warning("histories of accounts were not purged", metadata: ["error": "\(error)"])
        }
    }

    /// Maximum number of accounts that one step enables.
    static let mostEnabled = 100

    /// Enables accounts whose disabling has ended, in bounded steps. Their users can already sign in, so this
    /// work only adds events to the feed and deletes the stored disabling. With several replicas, the first
    /// replica does the work.
    func enableAccounts() async {
        do {
            while !Task.isCancelled {
                let moment = now()
                let due = try await store.accountsDisabled(until: moment, limit: Self.mostEnabled)
                var enabled = 0
                for account in due {
                    let command = EnableCommand(
                        key: account.key, accountID: account.accountID, onlyIfOver: true, scope: .all,
                        moment: moment)
                    do {
                        _ = try await commits.submit(command)
                        enabled += 1
                    } catch is AccountRefusal {
                        // The account was erased or transferred after the read.
                    }
                }
                guard enabled > 0, due.count == Self.mostEnabled else { return }
            }
        } catch {
            // The next run finds these accounts again, and a sign-in also enables its account.
            logger.warning("accounts were not enabled", metadata: ["error": "\(error)"])
        }
    }
}

/// Deletes audit log rows after their retention time.
///
/// A clock that is years ahead must not empty the log, so Apple's time applies if this machine's clock is
/// ahead of it. Until Apple has responded, purges delete at most one day of rows per day of uptime, and no
/// rows while the age of the oldest rows is uncertain.
final class AuditRetention: Sendable {
    private struct Beginning {
        let oldest: Moment
        let uptime: Duration
    }

    /// Maximum disorder of row times in milliseconds, which is due to clock differences between replicas.
    private static let largestDisorder: Int64 = 86_400_000

    private let store: any AuditStore
    /// Row retention time in milliseconds.
    private let keptFor: Int64
    private let secondsAhead: @Sendable () -> Int64?
    private let uptime: @Sendable () -> Duration
    private let now: @Sendable () -> Moment
    private let beginning = Mutex<Beginning?>(nil)

    init(
        store: any AuditStore, keptFor: Int64, secondsAhead: @escaping @Sendable () -> Int64?,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Moment
    ) {
        (self.store, self.keptFor, self.secondsAhead, self.now) = (store, keptFor, secondsAhead, now)
        uptime = Self.stopwatch(clock)
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Deletes a whole day at a time. Each step adds a row about the deletion, so deleting single rows would
    /// not shrink the log.
    func purge() async throws {
        let now: Moment
        var end: Moment
        if let secondsAhead = secondsAhead() {
            now = self.now().advanced(byMilliseconds: -max(0, secondsAhead) * 1000)
            end = now.advanced(byMilliseconds: -keptFor)
        } else {
            now = self.now()
            guard let bound = try await slowEnd() else { return }
            end = min(now.advanced(byMilliseconds: -keptFor), bound)
        }
        end = end.startOfDay
        while try await store.purgeAudit(before: end, at: now) > 0, !Task.isCancelled {}
    }

    /// Returns the time of the oldest row at the first purge plus the uptime since then; `nil` if there are
    /// no rows or the age of the oldest row is uncertain.
    private func slowEnd() async throws -> Moment? {
        let uptime = uptime()
        guard let first = try await beginning(at: uptime) else { return nil }
        // If a wrong clock has written more rows than were read, all other rows would seem old.
        let before = first.oldest.advanced(byMilliseconds: -Self.largestDisorder)
        guard try await store.auditSequence(at: before) == 0 else { return nil }
        return first.oldest.advanced(byMilliseconds: (uptime - first.uptime).components.seconds * 1000)
    }

    private func beginning(at uptime: Duration) async throws -> Beginning? {
        if let known = beginning.withLock({ $0 }) { return known }
        let anchor = try await store.auditChain().anchor.sequence
        // The minimum of several rows is used, because a wrong clock may have set the first row's time.
        let rows = try await store.auditRows(after: anchor, limit: AuditPurge.largestStep)
        guard let oldest = rows.map(\.facts.moment).min() else { return nil }
        let first = Beginning(oldest: oldest, uptime: uptime)
        beginning.withLock { $0 = first }
        return first
    }
}
