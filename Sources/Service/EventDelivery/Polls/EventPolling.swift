public import AppleAccounts
public import Commits
public import Logging
import ServiceLifecycle
import SignIn
import Synchronization

/// Hands out security event tokens to receivers that poll (RFC
/// 8936), each at least once and in order for each account.
///
/// A token that was handed out is a retry of the delivery engine until the receiver takes it: it is handed
/// out again after a pause. So a crash of the receiver loses no tokens, and a receiver that takes no tokens
/// does not get them again without pause. A poll reads the receiver, decides, and writes. Of concurrent
/// polls, also at different replicas, one poll writes, and the other polls start over.
public final class EventPolling: Sendable {
    public typealias Store = AccountStore & DeliveryStore

    /// The longest wait for a token.
    public static let longestWait = SignInUseCases.longestWait
    /// Number of polls of one receiver that may wait in this process.
    public static let mostWaiting = 8
    /// Pauses before a token that the receiver has not taken is handed out again.
    static let backoff = Backoff(first: .seconds(60), longest: .seconds(3600))
    /// Time between two reads of a poll that waits. Under a steady
    /// load of commits the feed is not read for each commit.
    static let shortestPause: Int64 = 500
    /// Milliseconds after which a poll that waits reads its receiver again: another replica, or a command, can
    /// have changed it.
    static let longestPause: Int64 = 5000
    /// Number of pages of the feed that one attempt reads.
    static let mostPages = 20
    /// Number of attempts while other polls of the receiver write.
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

    /// Takes and refuses tokens, and returns the next tokens. Without a token, waits for the next token,
    /// unless the request requires an immediate response.
    ///
    /// - Throws: `ReceiverPaused`; `OverloadedError` while too many polls of the receiver wait; `StorageError`.
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
            // If the feed has more events, the next page is read at once.
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
            // An empty response at once would make the receiver poll without pause.
            guard waiting[name, default: 0] < Self.mostWaiting else { throw OverloadedError() }
            waiting[name, default: 0] += 1
        }
    }

    private func leave(_ name: ReceiverName) { waiting.withLock { $0[name, default: 1] -= 1 } }

    /// Returns the number of the latest event; `nil` after the time, and when the service stops.
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
    /// Largest number of tokens in a response. A request for more tokens gets this number.
    public static let mostTokens = 64
    /// Largest number of tokens that a request can take or
    /// refuse: no more tokens are outstanding at the same time.
    public static let mostEnded = DeliveryRetry.mostPerReceiver

    /// 0 for a request that only takes tokens.
    public let mostTokens: Int
    /// True for a response without a wait.
    public let isImmediate: Bool
    /// `ack`: the tokens that the receiver has taken.
    public let taken: Set<EventID>
    /// `setErrs`: the tokens that the receiver cannot use. They are not sent again.
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
    /// A security event token with its `jti`.
    public struct Token: Sendable, Hashable {
        public let id: EventID
        public let text: String
    }

    public internal(set) var tokens: [Token] = []
    /// True if the receiver can poll again at once. Can be true
    /// even if the remaining events are not for the receiver.
    public internal(set) var hasMore = false
    /// Number of tokens that the request has taken. Tokens that were not handed out do not count.
    public internal(set) var taken = 0
    /// Number of tokens that the request has refused.
    public internal(set) var refused = 0
}

/// The refusal of a poll: the receiver took nothing for seven days, and an operator must resume it.
public struct ReceiverPaused: Error, Sendable, Equatable {
    public init() {}
}

/// A receiver that polls for its events (RFC 8936), from the configuration.
public struct PolledReceiver: Sendable {
    public let name: ReceiverName
    public let kinds: Set<AccountEvent.Kind>
    /// The apps whose events the receiver gets, by the rule of the event feed.
    public let scope: AppScope
    public let format: any EventFormat

    public init(
        name: ReceiverName, kinds: Set<AccountEvent.Kind>, scope: AppScope, format: any EventFormat
    ) {
        (self.name, self.kinds, self.scope, self.format) = (name, kinds, scope, format)
    }
}
