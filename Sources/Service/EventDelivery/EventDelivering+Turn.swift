import AppleAccounts
import Logging
import ServiceLifecycle
import SignIn
import Synchronization

// A receiver's turn, from its claim to the write that ends the claim.
extension EventDelivering {
    func run(
        _ claimed: ClaimedReceiver, of receiver: EventReceiver, wokenBy signal: WakeupSignal
    ) async {
        do {
            let end = now().advanced(byMilliseconds: Self.turn)
            let events = try await store.events(numbered: claimed.retries.map(\.sequence))
            var turn = ReceiverTurn(claimed, events: events, takenAt: takenAt(of: receiver.name))
            if let verification = claimed.record.verification {
                await attempt(verification, receiver, claimed)
                turn.finish(verification)
            }
            defer { note(turn, claimed) }
            guard try await carryOut(&turn, claimed, receiver, signal, until: end) else { return }
            _ = try await settle(&turn, claimed, endsClaim: true)
        } catch {
            // The claim expires by itself, so the events delivered during the turn will be delivered again.
            if Task.isCancelled { return }
            tell("the position of a receiver was not stored", of: claimed, error, level: .warning)
        }
    }

    private func note(_ turn: ReceiverTurn, _ claimed: ClaimedReceiver) {
        setTakenAt(turn.takenAt, of: claimed.record.name)
        for _ in turn.givenUp {
            context.counters.count(.abandoned)
            tell("an event was given up", of: claimed, level: .error)
        }
    }

    /// Performs the turn. Returns `false` if the claim was lost.
    private func carryOut(
        _ turn: inout ReceiverTurn, _ claimed: ClaimedReceiver, _ receiver: EventReceiver,
        _ signal: WakeupSignal, until end: Moment
    ) async throws -> Bool {
        var settledAt = now()
        var generator = SystemRandomNumberGenerator()
        var idleSince = settledAt
        while now() < end, isHeld(receiver.name), turn.pausedAt == nil, !Task.isCancelled,
            !Task.isShuttingDownGracefully
        {
            let due = turn.dueLanes(at: now())
            if !due.isEmpty {
                let results = await attempt(due, receiver, claimed, until: end)
                turn.finishRetries(due, results, at: now(), using: &generator)
            }
            guard turn.pausedAt == nil else { break }
            let page = try await nextPage(turn, receiver)
            if page.cursor > turn.cursor {
                let wanted = page.events.filter { receiver.kinds.contains($0.kind) }
                let results = await attempt(turn.lanes(of: wanted), receiver, claimed, until: end)
                let isDone = turn.finishPage(
                    wanted, upTo: page.cursor, results, at: now(), using: &generator)
                guard isDone else { break }
                idleSince = now()
            } else if due.isEmpty {
                let rest = linger.wholeMilliseconds - (now().milliseconds - idleSince.milliseconds)
                guard rest > 0 else { break }
                // The pause lets one write cover several events.
                await signal.wait(atMost: .milliseconds(rest), on: context.clock)
            }
            if turn.hasProgress, now() >= settledAt.advanced(byMilliseconds: Self.settleInterval) {
                guard try await settle(&turn, claimed, endsClaim: false) else {
                    return false
                }
                settledAt = now()
            }
        }
        return true
    }

    /// Sends a verification without retries. If it does not arrive, the receiver can request another
    /// verification.
    private func attempt(
        _ verification: StreamVerification, _ receiver: EventReceiver, _ claimed: ClaimedReceiver
    ) async {
        do {
            guard
                let message = try await receiver.format.message(
                    for: verification, of: receiver.name, at: now())
            else { return }
            try await receiver.destination.post(message) { isHeld(receiver.name) }
            context.counters.count(.delivered)
        } catch {
            if Task.isCancelled || error is CancellationError { return }
            context.counters.count(.failed)
            note(error, of: receiver.name)
            tell("a verification was not delivered", of: claimed, error, level: .warning)
        }
    }

    private func nextPage(_ turn: ReceiverTurn, _ receiver: EventReceiver) async throws -> EventPage {
        let limit = min(ReceiverTurn.longestPage, turn.room)
        guard limit > 0 else { return EventPage(events: [], cursor: turn.cursor, hasMore: false) }
        return try await store.events(after: turn.cursor, limit: limit, visibleTo: receiver.scope)
    }

    /// Stores the progress of the turn. Returns `false` if the claim was lost.
    private func settle(
        _ turn: inout ReceiverTurn, _ claimed: ClaimedReceiver, endsClaim: Bool
    ) async throws -> Bool {
        let moment = now()
        let progress = turn.takeProgress(
            notBefore: endsClaim ? moment : moment.advanced(byMilliseconds: Self.lease))
        let isStored = try await store.settle(claimed.record, progress)
        if isStored, !endsClaim { confirm(claimed.record.name, at: moment) }
        if !isStored {
            tell("a claim of a receiver was lost", of: claimed, level: .notice)
        } else if turn.pausedAt != nil {
            let waiting = (try? await store.lastEventSequence()).map { turn.waiting(lastSequence: $0) }
            tell(
                "a receiver of events is paused", of: claimed, level: .error,
                adding: waiting.map { ["waiting": "\($0)"] } ?? [:])
        }
        return isStored
    }

    /// Attempts the lanes concurrently, and the events of each lane in order, until an attempt fails.
    private func attempt(
        _ lanes: [ReceiverTurn.Lane], _ receiver: EventReceiver, _ claimed: ClaimedReceiver,
        until end: Moment
    ) async -> ReceiverTurn.Results {
        // A single lane is the most common case, and needs no tasks.
        if lanes.count == 1 { return await attempt(lanes[0], receiver, claimed, until: end) }
        return await withTaskGroup(of: ReceiverTurn.Results.self) { group in
            var rest = lanes[...]
            var results: ReceiverTurn.Results = [:]
            for lane in rest.prefix(Self.mostLanes) {
                group.addTask { await attempt(lane, receiver, claimed, until: end) }
            }
            rest = rest.dropFirst(Self.mostLanes)
            for await more in group {
                results.merge(more) { $1 }
                if let lane = rest.popFirst() {
                    group.addTask { await attempt(lane, receiver, claimed, until: end) }
                }
            }
            return results
        }
    }

    private func attempt(
        _ lane: ReceiverTurn.Lane, _ receiver: EventReceiver, _ claimed: ClaimedReceiver, until end: Moment
    ) async -> ReceiverTurn.Results {
        var results: ReceiverTurn.Results = [:]
        for event in lane {
            guard now() < end, isHeld(receiver.name), !Task.isCancelled, !Task.isShuttingDownGracefully
            else { return results }
            do {
                guard let message = try await receiver.format.message(for: event, at: now()) else {
                    results[event.sequence] = .passedOver
                    continue
                }
                // If this process was suspended while it made the message, it may have lost its claim.
                guard isHeld(receiver.name) else { return results }
                try await receiver.destination.post(message) { isHeld(receiver.name) }
                context.counters.count(.delivered)
                results[event.sequence] = .delivered
            } catch {
                // Records no result: either the task was cancelled during the attempt, so its outcome is
                // unknown, or the claim was lost before the attempt began.
                if Task.isCancelled || error is CancellationError { return results }
                context.counters.count(.failed)
                note(error, of: receiver.name)
                tell("an event was not delivered", of: claimed, error, level: .warning)
                let isRefused = (error as? DeliveryError)?.code == .eventRefused
                results[event.sequence] = isRefused ? .refused : .failed
                return results
            }
        }
        return results
    }
}
