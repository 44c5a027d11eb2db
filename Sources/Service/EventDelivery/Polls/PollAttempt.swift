import AppleAccounts
import SignIn

/// An attempt to respond to a poll. It determines the tokens to return, and the progress to write before
/// responding.
///
/// The `sets` member is unordered, so a response contains at most one event per user.
struct PollAttempt {
    private(set) var turn: ReceiverTurn
    var response = PollResponse()
    private let verification: StreamVerification?
    private let mostTokens: Int
    private var generator = SystemRandomNumberGenerator()
    private var isAtEnd = false
    private let moment: Moment

    init(_ stored: ClaimedReceiver, events: [AccountEvent], _ request: PollRequest, at moment: Moment) {
        turn = ReceiverTurn(stored, events: events, backoff: EventPolling.backoff)
        verification = stored.record.verification
        mostTokens = request.mostTokens
        self.moment = moment
        response.taken = turn.acknowledge(request.taken, at: moment)
        response.refused = turn.acknowledge(request.refused, at: moment)
    }

    var cursor: Int64 { turn.cursor }
    var nextDue: Moment? { turn.nextDue }

    private var hasRoom: Bool { response.tokens.count < mostTokens && turn.pausedAt == nil }

    mutating func takeProgress() -> ReceiverProgress {
        turn.takeProgress(notBefore: moment, countsAsClaim: true)
    }

    mutating func collect(
        for receiver: PolledReceiver, from store: any EventPolling.Store
    ) async throws {
        if let verification {
            let message = try await receiver.format.message(
                for: verification, of: receiver.name, at: moment)
            if let message { add(verification.id, message) }
            turn.finish(verification)
        }
        try await collectRetries(for: receiver)
        for _ in 0..<EventPolling.mostPages where hasRoom && turn.room > 0 && !isAtEnd {
            guard try await collectPage(for: receiver, from: store) else { break }
        }
    }

    private mutating func collectRetries(for receiver: PolledReceiver) async throws {
        for lane in turn.dueLanes(at: moment) where hasRoom {
            var results: ReceiverTurn.Results = [:]
            for event in lane {
                if let message = try await receiver.format.message(for: event, at: moment) {
                    add(event.id, message)
                    results[event.sequence] = .failed
                    break
                }
                results[event.sequence] = .passedOver
            }
            turn.finishRetries([lane], results, at: moment, using: &generator)
        }
    }

    /// Adds a page's tokens to the response. Returns `false` if part of the page remains for the next
    /// response.
    private mutating func collectPage(
        for receiver: PolledReceiver, from store: any EventPolling.Store
    ) async throws -> Bool {
        let page = try await store.events(
            after: turn.cursor, limit: min(ReceiverTurn.longestPage, turn.room), visibleTo: receiver.scope)
        let wanted = page.events.filter { receiver.kinds.contains($0.kind) }
        var results: ReceiverTurn.Results = [:]
        var handedOut: Set<EventOrder> = []
        for event in wanted {
            let user = EventOrder(event)
            if turn.isWaiting(user) || handedOut.contains(user) { continue }
            guard let message = try await receiver.format.message(for: event, at: moment) else {
                results[event.sequence] = .passedOver
                continue
            }
            guard hasRoom else { break }
            add(event.id, message)
            results[event.sequence] = .failed
            handedOut.insert(user)
        }
        isAtEnd = !page.hasMore
        let isDone = turn.finishPage(wanted, upTo: page.cursor, results, at: moment, using: &generator)
        isAtEnd = isAtEnd && isDone
        return isDone
    }

    /// Determines whether the next poll would find tokens immediately.
    mutating func finish(_ store: any EventPolling.Store) async throws {
        if !turn.dueLanes(at: moment).isEmpty {
            response.hasMore = true
        } else if !isAtEnd, turn.room > 0 {
            response.hasMore = try await store.lastEventSequence() > turn.cursor
        }
    }

    private mutating func add(_ id: EventID, _ message: EventMessage) {
        response.tokens.append(
            PollResponse.Token(id: id, text: String(decoding: message.body, as: UTF8.self)))
    }
}
