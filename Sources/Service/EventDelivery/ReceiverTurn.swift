import AppleAccounts
import SignIn

/// The work on one receiver during one claim: chooses the events to
/// attempt, and evaluates the results. Does no I/O and reads no clock.
///
/// A *lane* has events of one user, in the order of the feed. Lanes are attempted side by side; the events of a
/// lane one after the other, until one fails.
struct ReceiverTurn: Sendable {
    /// Number of events read from the feed at once.
    static let longestPage = 64
    /// Milliseconds for which an event is retried. After that the receiver is paused.
    static let lifetime: Int64 = 7 * 86_400_000
    static let backoff = Backoff(first: .seconds(5), longest: .seconds(3600))

    typealias Lane = [AccountEvent]
    /// Number of refusals after which an event is given up, if the receiver takes
    /// other events in that time: the attempts of about an hour and a half.
    static let mostRefusals: Int64 = 10

    /// Results of attempts by sequence number. Events that were not attempted are absent.
    typealias Results = [Int64: AttemptResult]

    let record: ReceiverRecord
    private(set) var cursor: Int64
    private(set) var pausedAt: Moment?
    /// Moment at which the receiver last took an event, if this process knows it.
    private(set) var takenAt: Moment?
    /// Events given up in this turn.
    private(set) var givenUp: [AccountEvent] = []
    private var retries: [Int64: DeliveryRetry]
    /// The events of the retries, by user.
    private var waiting: [EventOrder: [AccountEvent]] = [:]
    private var changed: Set<Int64> = []
    private var removed: Set<Int64> = []
    /// Retries that failed in this turn. The success of another event does not make such a retry due.
    private var failed: Set<Int64> = []
    private var isCursorSettled = true
    /// The verification that was sent in this turn.
    private var verified: EventID?
    private let backoff: Backoff

    /// - Parameters:
    ///   - events: The events of the retries. A retry without an event is dropped.
    ///   - backoff: Pauses before further attempts.
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
        // An event is never due before an earlier event of its user: the
        // receiver would be claimed, and the event could not be attempted.
        for lane in waiting.values {
            guard let first = lane.first.flatMap({ retries[$0.sequence] }) else { continue }
            for event in lane where retries[event.sequence].map({ $0.dueAt < first.dueAt }) ?? false {
                retries[event.sequence]?.dueAt = first.dueAt
                changed.insert(event.sequence)
            }
        }
    }

    /// Number of further events that can fail.
    var room: Int { max(DeliveryRetry.mostPerReceiver - retries.count, 0) }

    /// Returns an upper bound of the number of events that the receiver has not taken.
    ///
    /// - Parameter lastSequence: Number of the last event of the feed.
    func waiting(lastSequence: Int64) -> Int64 {
        max(lastSequence - cursor, 0) + Int64(retries.count)
    }

    // Retries.

    /// Returns the waiting events of each user whose first waiting event is due.
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

    /// Makes retries due for all users without a failure in
    /// this turn, because the receiver takes events again.
    private mutating func releaseRetries(at now: Moment) {
        for lane in waiting.values {
            guard let first = lane.first, !failed.contains(first.sequence) else { continue }
            for event in lane where retries[event.sequence].map({ $0.dueAt > now }) ?? false {
                retries[event.sequence]?.dueAt = now
                changed.insert(event.sequence)
            }
        }
    }

    // Polls.

    /// Removes the retries of events that the receiver has taken, and makes the next event of each of their
    /// users due. Returns the number of taken events; counts only events that were handed out.
    mutating func acknowledge(_ ids: Set<EventID>, at now: Moment) -> Int {
        guard !ids.isEmpty else { return 0 }
        var count = 0
        for (user, lane) in waiting {
            // Only the first event of a user is handed out.
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

    /// Returns `true` if an event of the user has a retry, so that later events wait behind it.
    func isWaiting(_ user: EventOrder) -> Bool { waiting[user] != nil }

    /// Due time of the next retry; `nil` without retries.
    var nextDue: Moment? {
        waiting.values.compactMap { $0.first.flatMap { retries[$0.sequence]?.dueAt } }.min()
    }

    /// Notes that a verification was sent, or that the attempt
    /// failed: the receiver can request another verification.
    mutating func finish(_ verification: StreamVerification) { verified = verification.id }

    // The feed.

    /// Returns the events of a page that can be attempted now, by user.
    ///
    /// Omits events of users with a retry, which wait behind the retry.
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

    /// Moves the cursor over a page, and keeps failed events as retries. Stops before an event that was not
    /// attempted, and before a failed event without room for a retry. Returns `true` at the end of the page.
    ///
    /// - Parameters:
    ///   - page: The events that the receiver wants.
    ///   - end: The cursor of the whole page.
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
            // An event behind a failed one is not attempted.
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
        // Behind an earlier event of its user, it waits for as long as the earlier event.
        let first = waiting[user]?.first.flatMap { retries[$0.sequence] }
        waiting[user, default: []].append(event)
        retries[event.sequence] = DeliveryRetry(
            sequence: event.sequence, attempts: 0, dueAt: first?.dueAt ?? now, waitingSince: now)
        changed.insert(event.sequence)
        if first == nil { fail(event, result, behind: [], at: now, using: &generator) }
    }

    /// - Parameter lane: Further events of the user, which are due with this one.
    private mutating func fail(
        _ event: AccountEvent, _ result: AttemptResult, behind lane: Lane, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        guard var retry = retries[event.sequence] else { return }
        // An event that waited behind another event was not refused in that time.
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

    /// Returns `true` if the receiver repeatedly refuses this event while it takes other events. A receiver
    /// that takes no events has another fault, and its events wait.
    private func isOnlyOneRefused(_ retry: DeliveryRetry) -> Bool {
        retry.attempts >= Self.mostRefusals && takenAt.map { $0 >= retry.waitingSince } ?? false
    }

    private mutating func remove(_ sequence: Int64) {
        retries[sequence] = nil
        changed.remove(sequence)
        removed.insert(sequence)
    }

    // The result.

    var hasProgress: Bool {
        !isCursorSettled || !changed.isEmpty || !removed.isEmpty || pausedAt != nil || verified != nil
    }

    /// Returns the progress since the last call.
    mutating func takeProgress(notBefore: Moment, countsAsClaim: Bool = false) -> ReceiverProgress {
        defer { (changed, removed, isCursorSettled, verified) = ([], [], true, nil) }
        return ReceiverProgress(
            cursor: cursor, changed: changed.sorted().compactMap { retries[$0] }, removed: removed.sorted(),
            notBefore: notBefore, pausedAt: pausedAt, verified: verified, countsAsClaim: countsAsClaim)
    }
}

/// The result of one attempt.
enum AttemptResult: Sendable {
    case delivered
    /// The receiver's form has no message for the event. No request was sent.
    case passedOver
    case failed
    /// The receiver refused this event, and may take other events.
    case refused

    /// True if the receiver does not need the event any more.
    var isDone: Bool {
        switch self {
        case .delivered, .passedOver: true
        case .failed, .refused: false
        }
    }
}

/// The user of an event. Events with equal values are delivered one after the other.
enum EventOrder: Hashable, Sendable {
    /// The ID outlives transfers and erasures, so the key of an account's events never changes.
    case account(AccountID)
    /// A user without an account.
    case user(SubjectKey)
    /// Erased users without an account.
    case erased

    init(_ event: AccountEvent) {
        if let account = event.accountID {
            self = .account(account)
        } else {
            self = event.key.map { .user($0) } ?? .erased
        }
    }
}
