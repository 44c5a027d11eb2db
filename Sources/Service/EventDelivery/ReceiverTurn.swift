import AppleAccounts
import SignIn

/// Chooses the events to attempt during a claim on a receiver, and evaluates the results. Does no I/O and
/// reads no clock.
///
/// A *lane* contains one user's events in feed order. Lanes are attempted concurrently, and the events of
/// each lane in order, until an attempt fails.
struct ReceiverTurn: Sendable {
    /// Maximum number of events read from the feed at a time.
    static let longestPage = 64
    /// Retry time of an event before the receiver is paused, in milliseconds.
    static let lifetime: Int64 = 7 * 86_400_000
    static let backoff = Backoff(first: .seconds(5), longest: .seconds(3600))

    typealias Lane = [AccountEvent]
    /// Number of refusals before an event is abandoned, if the receiver has accepted other events in the
    /// meantime. These attempts take about an hour and a half.
    static let mostRefusals: Int64 = 10

    /// Results by sequence number. An event that was not attempted is absent.
    typealias Results = [Int64: AttemptResult]

    let record: ReceiverRecord
    private(set) var cursor: Int64
    private(set) var pausedAt: Moment?
    /// Time at which the receiver last accepted an event; `nil` if this process does not know it.
    private(set) var takenAt: Moment?
    /// Events that were abandoned in this turn.
    private(set) var givenUp: [AccountEvent] = []
    private var retries: [Int64: DeliveryRetry]
    /// Events that wait for a retry, grouped by user.
    private var waiting: [EventOrder: [AccountEvent]] = [:]
    private var changed: Set<Int64> = []
    private var removed: Set<Int64> = []
    /// Sequence numbers of retries that failed in this turn. The success of another event does not make these
    /// retries due.
    private var failed: Set<Int64> = []
    private var isCursorSettled = true
    /// The ID of the verification that was sent in this turn.
    private var verified: EventID?
    private let backoff: Backoff

    /// - Parameters:
    ///   - events: The events of the stored retries. A retry whose event is missing is dropped.
    ///   - backoff: The pauses between attempts.
    init(
        _ claimed: ClaimedReceiver, events: [AccountEvent], takenAt: Moment? = nil,
        backoff: Backoff = Self.backoff
    ) {
        (record, self.takenAt) = (claimed.record, takenAt)
        self.backoff = backoff
        cursor = claimed.record.cursor
        retries = Dictionary(
            claimed.retries.map { ($0.sequence, $0) }, uniquingKeysWith: { first, _ in first })
        for event in events where retries[event.sequence] != nil {
            waiting[EventOrder(event), default: []].append(event)
        }
        let known = Set(events.map(\.sequence))
        for sequence in retries.keys where !known.contains(sequence) { remove(sequence) }
        // An event is never due before an earlier event of the same user. Otherwise a worker would claim the
        // receiver without being able to attempt the event.
        for lane in waiting.values {
            guard let first = lane.first.flatMap({ retries[$0.sequence] }) else { continue }
            for event in lane where retries[event.sequence].map({ $0.dueAt < first.dueAt }) ?? false {
                retries[event.sequence]?.dueAt = first.dueAt
                changed.insert(event.sequence)
            }
        }
    }

    /// Number of further events that can fail before the receiver reaches its retry limit.
    var room: Int { max(DeliveryRetry.mostPerReceiver - retries.count, 0) }

    /// Returns an upper bound on the number of events that the receiver has not accepted.
    ///
    /// - Parameter lastSequence: Sequence number of the last event in the feed.
    func waiting(lastSequence: Int64) -> Int64 {
        max(lastSequence - cursor, 0) + Int64(retries.count)
    }

    // These functions handle retries.

    /// Returns the waiting events of all users whose first waiting event is due.
    func dueLanes(at now: Moment) -> [Lane] {
        waiting.values.filter { lane in
            lane.first.flatMap { retries[$0.sequence] }.map { $0.dueAt <= now } ?? false
        }.sorted { ($0.first?.sequence ?? 0) < ($1.first?.sequence ?? 0) }
    }

    mutating func finishRetries(
        _ lanes: [Lane], _ results: Results, at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        var hasRecovered = false
        for lane in lanes {
            for event in lane {
                guard let result = results[event.sequence] else { break }
                guard result.isDone else {
                    fail(event, result, behind: lane, at: now, using: &generator)
                    break
                }
                if result == .delivered { takenAt = now }
                hasRecovered = hasRecovered || (retries[event.sequence]?.attempts ?? 0) > 0
                remove(event.sequence)
                waiting[EventOrder(event)]?.removeAll { $0.sequence == event.sequence }
            }
            if let user = lane.first.map(EventOrder.init), waiting[user]?.isEmpty ?? false {
                waiting[user] = nil
            }
        }
        if hasRecovered { releaseRetries(at: now) }
    }

    /// Makes retries due for all users without a failure in this turn, because the receiver is accepting
    /// events again.
    private mutating func releaseRetries(at now: Moment) {
        for lane in waiting.values {
            guard let first = lane.first, !failed.contains(first.sequence) else { continue }
            for event in lane where retries[event.sequence].map({ $0.dueAt > now }) ?? false {
                retries[event.sequence]?.dueAt = now
                changed.insert(event.sequence)
            }
        }
    }

    // These functions handle polls.

    /// Removes the retries of acknowledged events, and makes each user's next event due. Returns the number
    /// of acknowledged events. Counts only events that were returned before.
    mutating func acknowledge(_ ids: Set<EventID>, at now: Moment) -> Int {
        guard !ids.isEmpty else { return 0 }
        var count = 0
        for (user, lane) in waiting {
            // A poll returns only a user's first waiting event.
            guard let first = lane.first, ids.contains(first.id), (retries[first.sequence]?.attempts ?? 0) > 0
            else { continue }
            count += 1
            remove(first.sequence)
            let rest = Array(lane.dropFirst())
            waiting[user] = rest.isEmpty ? nil : rest
            for event in rest where retries[event.sequence].map({ $0.dueAt > now }) ?? false {
                retries[event.sequence]?.dueAt = now
                changed.insert(event.sequence)
            }
        }
        return count
    }

    /// Returns `true` if one of the user's events waits for a retry, in which case the user's later events
    /// wait too.
    func isWaiting(_ user: EventOrder) -> Bool { waiting[user] != nil }

    /// Due time of the next retry; `nil` if no event waits for a retry.
    var nextDue: Moment? {
        waiting.values.compactMap { $0.first.flatMap { retries[$0.sequence]?.dueAt } }.min()
    }

    /// Records that the verification was sent or that sending it failed. After a failure the receiver can
    /// request another verification.
    mutating func finish(_ verification: StreamVerification) { verified = verification.id }

    // These functions handle pages of the feed.

    /// Returns a page's events that can be attempted now, grouped by user.
    ///
    /// Omits events of users with a waiting retry, because their events must stay in order.
    func lanes(of page: [AccountEvent]) -> [Lane] {
        var places: [EventOrder: Int] = [:]
        var lanes: [Lane] = []
        for event in page {
            let user = EventOrder(event)
            guard waiting[user] == nil else { continue }
            if let place = places[user] {
                lanes[place].append(event)
            } else {
                places[user] = lanes.count
                lanes.append([event])
            }
        }
        return lanes
    }

    /// Advances the cursor over a page, and stores failed events as retries. Stops before an event that was
    /// not attempted, and before a failed event if there is no room for another retry. Returns `true` at the
    /// end of the page.
    ///
    /// - Parameters:
    ///   - page: The events of the page that the receiver gets.
    ///   - end: The cursor at the end of the page.
    mutating func finishPage(
        _ page: [AccountEvent], upTo end: Int64, _ results: Results, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        for event in page {
            let user = EventOrder(event)
            switch (results[event.sequence], waiting[user]?.first) {
            case (.delivered?, _): takenAt = now
            case (.passedOver?, _): break
            case (.failed?, nil), (.refused?, nil), (nil, _?):
                guard room > 0 else { return false }
                keep(event, results[event.sequence] ?? .failed, at: now, using: &generator)
            case (nil, nil): return false
            // An event after a failed event of the same user is not attempted, so the page is not finished.
            case (.failed?, _?), (.refused?, _?): return false
            }
            move(to: event.sequence)
        }
        move(to: end)
        return true
    }

    private mutating func move(to sequence: Int64) {
        guard sequence > cursor else { return }
        cursor = sequence
        isCursorSettled = false
    }

    private mutating func keep(
        _ event: AccountEvent, _ result: AttemptResult, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        let user = EventOrder(event)
        // The event waits behind an earlier event of its user, and becomes due at the same time.
        let first = waiting[user]?.first.flatMap { retries[$0.sequence] }
        waiting[user, default: []].append(event)
        retries[event.sequence] = DeliveryRetry(
            sequence: event.sequence, attempts: 0, dueAt: first?.dueAt ?? now, waitingSince: now)
        changed.insert(event.sequence)
        if first == nil { fail(event, result, behind: [], at: now, using: &generator) }
    }

    /// - Parameter lane: The user's later events, which become due at the same time.
    private mutating func fail(
        _ event: AccountEvent, _ result: AttemptResult, behind lane: Lane, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        guard var retry = retries[event.sequence] else { return }
        // While an event waited behind another event, it was not refused, so its retry time starts now.
        if retry.attempts == 0 { retry.waitingSince = now }
        retry.attempts += 1
        let isLate = now >= retry.waitingSince.advanced(byMilliseconds: Self.lifetime)
        if result == .refused, isLate || isOnlyOneRefused(retry) {
            remove(event.sequence)
            waiting[EventOrder(event)]?.removeAll { $0.sequence == event.sequence }
            return givenUp.append(event)
        }
        let delay = backoff.delay(after: Int(clamping: retry.attempts), using: &generator)
        retry.dueAt = now.advanced(byMilliseconds: delay)
        retries[event.sequence] = retry
        failed.insert(event.sequence)
        changed.insert(event.sequence)
        for other in lane where other.sequence > event.sequence {
            retries[other.sequence]?.dueAt = retry.dueAt
            changed.insert(other.sequence)
        }
        if isLate { pausedAt = now }
    }

    /// Returns `true` if the receiver repeatedly refuses this event while it accepts other events. If the
    /// receiver accepts no events at all, this event is not at fault, so all events wait.
    private func isOnlyOneRefused(_ retry: DeliveryRetry) -> Bool {
        retry.attempts >= Self.mostRefusals && takenAt.map { $0 >= retry.waitingSince } ?? false
    }

    private mutating func remove(_ sequence: Int64) {
        retries[sequence] = nil
        changed.remove(sequence)
        removed.insert(sequence)
    }

    // These functions handle the result of the turn.

    var hasProgress: Bool {
        !isCursorSettled || !changed.isEmpty || !removed.isEmpty || pausedAt != nil || verified != nil
    }

    /// Returns the progress since the last call to this function.
    mutating func takeProgress(notBefore: Moment, countsAsClaim: Bool = false) -> ReceiverProgress {
        defer { (changed, removed, isCursorSettled, verified) = ([], [], true, nil) }
        return ReceiverProgress(
            cursor: cursor, changed: changed.sorted().compactMap { retries[$0] }, removed: removed.sorted(),
            notBefore: notBefore, pausedAt: pausedAt, verified: verified, countsAsClaim: countsAsClaim)
    }
}

/// The result of a delivery attempt.
enum AttemptResult: Sendable {
    case delivered
    /// The receiver's format has no message for the event, so no request was sent.
    case passedOver
    case failed
    /// The receiver refused this event, but may accept other events.
    case refused

    /// True if the event's delivery is complete.
    var isDone: Bool {
        switch self {
        case .delivered, .passedOver: true
        case .failed, .refused: false
        }
    }
}

/// An event's user. Events with equal values are delivered in order.
enum EventOrder: Hashable, Sendable {
    /// The account's ID. It outlives transfers and erasures, so an account's events always have the same key.
    case account(AccountID)
    /// A user without an account.
    case user(SubjectKey)
    /// All erased users without an account.
    case erased

    init(_ event: AccountEvent) {
        if let account = event.accountID {
            self = .account(account)
        } else {
            self = event.key.map { .user($0) } ?? .erased
        }
    }
}
