public import AppleAccounts
public import Synchronization

// From an accepted command to its transaction, and back to its caller.
extension GroupCommit {
    /// Accepts commands. The call that finds the queue idle starts a transaction.
    @inlinable
    func enqueue<Entries: Collection<Entry>>(_ entries: Entries) {
        let (accepted, isFirst, endsGathering) = queue.withLock { queue in
            var (accepted, isFirst) = (0, false)
            accepting: for entry in entries {
                switch queue.accept(entry.command, entry.ticket) {
                case .startCommitting: isFirst = true
                case .wait: break
                case .refuse: break accepting
                }
                accepted += 1
            }
            return (accepted, isFirst, accepted > 0 && queue.endsGathering(at: now()))
        }
        for refused in entries.dropFirst(accepted) { refused.ticket.completion(.failure(OverloadedError())) }
        if isFirst || endsGathering { startNextTransaction(gathers: !endsGathering) }
    }

    /// The first caller starts a transaction. After that each transaction starts the next one, on the thread of
    /// the store. Either may do so behind a delay, on the thread of the delay.
    @inlinable
    func startNextTransaction(look: Int? = nil, gathers: Bool = true) {
        switch queue.withLock({ $0.next(look: look, gathers: gathers && delay != nil, at: now()) }) {
        case .stop: releaseDrainWaiters()
        case .look(let turn): delay? { self.startNextTransaction(look: turn) }
        case .commit(let batch):
            let began = now()
            let span = spans?.begin(batch.tickets.lazy.map(\.context))
            transaction(batch.commands) { result in
                if let span { CommitSpans.end(span, result) }
                self.complete(batch.tickets, with: result, after: self.now() - began)
                self.startNextTransaction()
            }
        }
    }

    @inlinable
    func complete(
        _ tickets: [Ticket], with result: Result<Command.Batch, any Error>, after time: Duration
    ) {
        switch result {
        case .success(let batch):
            // The feed comes first, so that a caller which has its result and then reads events finds them.
            if let sequence = batch.lastEventSequence { feed.advance(to: sequence) }
            let results = batch.results
            for (index, ticket) in tickets.enumerated() {
                guard index < results.count else {
                    ticket.completion(
                        .failure(StorageError(.unavailable, detail: "the store gave no result")))
                    continue
                }
                ticket.completion(Command.Batch.outcome(results[index]))
            }
            metrics.committed(tickets.count, in: time)
        case .failure(let error):
            for ticket in tickets { ticket.completion(.failure(error)) }
            metrics.failed(tickets.count)
        }
    }

    @usableFromInline
    func releaseDrainWaiters() {
        // Another batch may have begun since the last one ended. The waiters wait for that batch too.
        guard queue.withLock({ $0.isClosed && $0.isIdle }) else { return }
        let waiters = drainWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
