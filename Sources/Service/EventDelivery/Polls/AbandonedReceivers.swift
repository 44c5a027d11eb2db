public import AppleAccounts
public import Logging
public import ServiceLifecycle
import SignIn

/// Pauses receivers that have not polled for seven days, so that the operator notices them. The delivery
/// engine likewise pauses receivers that accept no events for seven days. Runs once an hour in each replica.
public struct AbandonedReceivers: Service {
    static let interval = Duration.seconds(3600)
    /// Maximum number of feed pages read per receiver in one check. If none of them contains an event for the
    /// receiver, it is not considered abandoned.
    static let mostPages = 20

    private let receivers: [PolledReceiver]
    private let store: any EventPolling.Store
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let logger: Logger

    public init(
        receivers: [PolledReceiver], store: any EventPolling.Store,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        (self.receivers, self.store, self.clock) = (receivers, store, clock)
        (self.now, self.logger) = (now, logger)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // Receivers get an hour to poll first, because the service itself may have been down for a
                // week.
                try? await clock.sleep(for: Self.interval)
                guard !Task.isCancelled else { return }
                for receiver in receivers { await look(at: receiver) }
            }
        }
    }

    func look(at receiver: PolledReceiver) async {
        let moment = now()
        // While the database is not responding, no receiver is paused.
        guard let stored = try? await store.receiver(receiver.name), stored.record.pausedAt == nil,
            let isAbandoned = try? await isAbandoned(stored, receiver, at: moment), isAbandoned
        else { return }
        let progress = ReceiverProgress(
            cursor: stored.record.cursor, notBefore: stored.record.notBefore, pausedAt: moment,
            countsAsClaim: true)
        // If a poll has changed the number of claims since the read, the write fails, so the receiver is not
        // paused.
        guard (try? await store.settle(stored.record, progress)) ?? false else { return }
        let last = (try? await store.lastEventSequence()) ?? stored.record.cursor
        logger.error(
            "a receiver of events is paused",
            metadata: [
                "receiver": "\(receiver.name)", "waiting": "\(stored.waiting(lastSequence: last))",
            ])
    }

    private func isAbandoned(
        _ stored: ClaimedReceiver, _ receiver: PolledReceiver, at moment: Moment
    ) async throws -> Bool {
        func isOld(_ begin: Moment) -> Bool {
            moment >= begin.advanced(byMilliseconds: ReceiverTurn.lifetime)
        }
        if stored.retries.contains(where: { $0.attempts > 0 && isOld($0.waitingSince) }) { return true }
        // `notBefore` is the time of the last poll that changed something, or the time of the resumption.
        guard isOld(stored.record.notBefore) else { return false }
        var cursor = stored.record.cursor
        for _ in 0..<Self.mostPages {
            let page = try await store.events(
                after: cursor, limit: ReceiverTurn.longestPage, visibleTo: receiver.scope)
            for event in page.events where receiver.kinds.contains(event.kind) {
                guard isOld(event.recordedAt) else { return false }
                if try await receiver.format.message(for: event, at: moment) != nil { return true }
            }
            guard page.hasMore, page.cursor > cursor else { return false }
            cursor = page.cursor
        }
        return false
    }
}
