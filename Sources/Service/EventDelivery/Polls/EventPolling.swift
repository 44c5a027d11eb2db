public import AppleAccounts
public import Commits
public import Logging
import ServiceLifecycle
import SignIn
import Synchronization

/// Returns security event tokens to receivers that poll (RFC 8936), at least once per token, and in order for
/// each account.
///
/// Until the receiver acknowledges a returned token, the service treats the token like a retry of the
/// delivery engine, and returns it again after a pause. So a crash of the receiver loses no tokens, and a
/// receiver without acknowledgments does not get the same tokens in every poll. A poll reads the receiver,
/// decides, and writes. If several polls run concurrently, even at different replicas, one of them writes,
/// and the others restart.
public final class EventPolling: Sendable {
    public typealias Store = AccountStore & DeliveryStore

    /// Maximum time to wait for a token.
    public static let longestWait = SignInUseCases.longestWait
    /// The maximum number of polls by one receiver that wait in this process.
    public static let mostWaiting = 8
    /// The pauses before an unacknowledged token is returned again.
    static let backoff = Backoff(first: .seconds(60), longest: .seconds(3600))
    /// Minimum time between two reads by a waiting poll, in milliseconds. Without this minimum, a steady
    /// stream of commits would cause a read for each commit.
    static let shortestPause: Int64 = 500
    /// Maximum time between two reads by a waiting poll, in milliseconds, because another replica or a
    /// command can change the receiver in the meantime.
    static let longestPause: Int64 = 5000
    /// Maximum number of feed pages that one attempt reads.
    static let mostPages = 20
    /// The maximum number of attempts that a poll makes when other polls by the receiver write first.
    static let mostAttempts = 8

    private let store: any Store
    private let feed: EventFeed
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog
    private let waiting = Mutex<[ReceiverName: Int]>([:])

    public init(
        store: any Store, feed: EventFeed, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        (self.store, self.feed, self.clock, self.now) = (store, feed, clock, now)
        log = ThrottledLog(logger)
    }

    /// Processes the acknowledged and the refused tokens, and returns the next tokens. Waits if there is no
    /// token, unless the request requires an immediate response.
    ///
    /// - Throws: `ReceiverPaused`; `OverloadedError` if too many polls of the receiver wait; `StorageError`.
    public func poll(_ receiver: PolledReceiver, _ request: PollRequest) async throws -> PollResponse {
        if !request.refused.isEmpty {
            log.tell(
                "a receiver has refused events", about: nil, of: receiver.name.rawValue, at: now(),
                metadata: ["receiver": "\(receiver.name)", "count": "\(request.refused.count)"])
        }
        var outcome = try await outcome(of: request, for: receiver)
        let (taken, refused) = (outcome.response.taken, outcome.response.refused)
        guard outcome.response.tokens.isEmpty, !request.isImmediate, request.mostTokens > 0 else {
            return outcome.response
        }
        try enter(receiver.name)
        defer { leave(receiver.name) }
        let again = PollRequest(mostTokens: request.mostTokens)
        let end = now().advanced(byMilliseconds: Self.longestWait.wholeMilliseconds)
        var seen = outcome.cursor
        while outcome.response.tokens.isEmpty, now() < end {
            // If the feed has more events, the loop reads the next page immediately.
            if !outcome.response.hasMore {
                let next = min(outcome.nextDue ?? end, end).milliseconds - now().milliseconds
                let readAt = now()
                let woken = try await wait(
                    after: seen, atMost: min(max(next, Self.shortestPause), Self.longestPause))
                if let latest = woken { seen = max(seen, latest) }
                let pause = Self.shortestPause - (now().milliseconds - readAt.milliseconds)
                if pause > 0, !isOver { try? await clock.sleep(for: .milliseconds(pause)) }
            }
            guard !isOver else { break }
            outcome = try await self.outcome(of: again, for: receiver)
            seen = max(seen, outcome.cursor)
        }
        (outcome.response.taken, outcome.response.refused) = (taken, refused)
        return outcome.response
    }

    private var isOver: Bool { Task.isCancelled || Task.isShuttingDownGracefully }

    private func enter(_ name: ReceiverName) throws(OverloadedError) {
        try waiting.withLock { waiting throws(OverloadedError) in
            // An immediate empty response would make the receiver poll in a busy loop.
            guard waiting[name, default: 0] < Self.mostWaiting else { throw OverloadedError() }
            waiting[name, default: 0] += 1
        }
    }

    private func leave(_ name: ReceiverName) { waiting.withLock { $0[name, default: 1] -= 1 } }

    /// Returns the latest sequence number when it advances; `nil` after the time limit, and when the service
    /// stops.
    private func wait(after sequence: Int64, atMost milliseconds: Int64) async throws -> Int64? {
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            group.addTask { [feed] in try await feed.waitForMore(after: sequence) }
            group.addTask { [clock] in
                try? await clock.sleep(for: .milliseconds(milliseconds))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func outcome(
        of request: PollRequest, for receiver: PolledReceiver
    ) async throws -> PollAttempt {
        for _ in 0..<Self.mostAttempts {
            guard let stored = try await store.receiver(receiver.name) else {
                throw StorageError(
                    .corrupted,
                    detail: "expected the receiver that was stored at the start; restart the service")
            }
            guard stored.record.pausedAt == nil else { throw ReceiverPaused() }
            let events = try await store.events(numbered: stored.retries.map(\.sequence))
            var attempt = PollAttempt(stored, events: events, request, at: now())
            if request.mostTokens > 0 { try await attempt.collect(for: receiver, from: store) }
            try await attempt.finish(store)
            guard attempt.turn.hasProgress else { return attempt }
            let progress = attempt.takeProgress()
            if try await store.settle(stored.record, progress) {
                if progress.pausedAt != nil {
                    let last = (try? await store.lastEventSequence()) ?? stored.record.cursor
                    log.tell(
                        "a receiver of events is paused", about: nil, of: receiver.name.rawValue,
                        level: .error, at: now(),
                        metadata: [
                            "receiver": "\(receiver.name)",
                            "waiting": "\(stored.waiting(lastSequence: last))",
                        ])
                }
                return attempt
            }
        }
        throw OverloadedError()
    }
}

/// A poll for security event tokens (RFC 8936 §2.2).
public struct PollRequest: Sendable, Hashable {
    /// Maximum number of tokens in a response. A request for more tokens gets at most this number.
    public static let mostTokens = 64
    /// Maximum number of tokens that a request can acknowledge or refuse. A receiver never has more
    /// outstanding tokens.
    public static let mostEnded = DeliveryRetry.mostPerReceiver

    /// Number of requested tokens; 0 for a request that only acknowledges tokens.
    public let mostTokens: Int
    /// True if the response must not wait (`returnImmediately`).
    public let isImmediate: Bool
    /// The tokens that the receiver has accepted (member `ack`).
    public let taken: Set<EventID>
    /// The tokens that the receiver cannot use (member `setErrs`). They are not sent again.
    public let refused: Set<EventID>

    public init(
        mostTokens: Int = Self.mostTokens, isImmediate: Bool = false, taken: Set<EventID> = [],
        refused: Set<EventID> = []
    ) {
        self.mostTokens = min(max(mostTokens, 0), Self.mostTokens)
        (self.isImmediate, self.taken, self.refused) = (isImmediate, taken, refused)
    }
}

/// The response to a poll (RFC 8936 §2.3).
public struct PollResponse: Sendable, Hashable {
    /// A security event token and its `jti`.
    public struct Token: Sendable, Hashable {
        public let id: EventID
        public let text: String
    }

    public internal(set) var tokens: [Token] = []
    /// True if the receiver should poll again immediately. Can be true even if the remaining events are not
    /// for this receiver.
    public internal(set) var hasMore = false
    /// Number of tokens that the request has acknowledged, counting only tokens that were returned before.
    public internal(set) var taken = 0
    /// Number of tokens that the request has refused.
    public internal(set) var refused = 0
}

/// The poll is refused, because the receiver has acknowledged nothing for seven days. An operator must resume
/// the receiver.
public struct ReceiverPaused: Error, Sendable, Equatable {
    public init() {}
}

/// A configured receiver that polls for its events (RFC 8936).
public struct PolledReceiver: Sendable {
    public let name: ReceiverName
    public let kinds: Set<AccountEvent.Kind>
    /// The apps whose events the receiver gets, chosen by the same rule as in the event feed.
    public let scope: AppScope
    public let format: any EventFormat

    public init(
        name: ReceiverName, kinds: Set<AccountEvent.Kind>, scope: AppScope, format: any EventFormat
    ) {
        (self.name, self.kinds, self.scope, self.format) = (name, kinds, scope, format)
    }
}
