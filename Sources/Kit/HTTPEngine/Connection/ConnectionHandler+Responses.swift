import NIOCore

/// The stages of a round, and requests that wait for the database or for a task. Each stage does only the
/// work that this connection needs.
extension ConnectionHandler {
    func handleRequest() {
        guard state.phase == .responding, let context = output.context, let request = incoming.take() else {
            return
        }
        let (exchange, source) = interface.handle(
            request, from: siblings.requester(of: request.fields, from: client), gate: gate)
        switch source {
        case .response(let response): ready = (exchange, response)
        case .command(let command):
            // Waits for the database only.
            wait(for: exchange, nil, atMost: .zero)
            round.add(command, of: exchange, on: self)
        case .work(let work):
            let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
            // Unstructured, because a client that hangs up must not undo what is being committed: only long
            // polls are cancelled.
            let task = Task(executorPreference: executor) {
                let result = await work()
                connection.value.workEnded(exchange, result)
            }
            wait(for: exchange, task, atMost: exchange.longestWait)
            if endsEarly { endEarly() }
        }
    }

    func writeResponse() {
        guard let (exchange, response) = ready.take() else { return }
        finish(exchange, with: response)
        processPipelined()
    }

    func sendResponse() {
        output.flush()
        releaseRead()
        keepTimer()
    }

    // A request that has to wait

    private func wait(
        for exchange: any HTTPExchange, _ task: Task<Void, Never>?, atMost ownWait: TimeAmount
    ) {
        pending = (exchange, task)
        state.workBegan(at: .now(), waiting: ownWait)
        keepTimer()
    }

    private func workEnded(_ exchange: any HTTPExchange, _ result: WorkResult) {
        switch result {
        case .response(let response): if finishLater(exchange, with: response) { round.add(self) }
        // Also after the time limit: a retry of the caller finds the stored result.
        case .command(let command): round.add(command, of: exchange, on: self)
        }
    }

    /// - Returns: `true` if there is a response to write.
    func finish(_ commit: FinishedCommits.Commit) -> Bool {
        finishLater(commit.exchange, with: commit.response())
    }

    private func finishLater(_ exchange: any HTTPExchange, with response: HTTPResponse) -> Bool {
        guard pending != nil else {
            interface.requestFinishedLate()
            return false
        }
        pending = nil
        ready = (exchange, response)
        return true
    }

    private func finish(_ exchange: any HTTPExchange, with response: HTTPResponse) {
        let now = NIODeadline.now()
        output.write(exchange.finish(response, at: now), to: exchange, closes: state.isLastResponse)
        use(at: now)
        state.idleTime = siblings.idleTime
        if state.responded(at: now) == .closeWhenWritten { closeWhenWritten() }
    }

    /// Responds to a request that has reached its time limit. Its work goes on, because the command may
    /// become durable.
    func giveUp() {
        guard let pending else { return }
        self.pending = nil
        finish(pending.exchange, with: pending.exchange.unavailable)
        output.flush()
    }

    /// Ends a long poll with the events that it has.
    func endEarly() {
        endsEarly = true
        if let pending, pending.exchange.isLongPoll { pending.task?.cancel() }
    }
}
