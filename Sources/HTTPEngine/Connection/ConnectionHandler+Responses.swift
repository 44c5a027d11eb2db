import NIOCore

/// The stages of a round, and requests that wait for the database or for a task. Each stage does only the
/// work that this connection needs.
extension ConnectionHandler {
    func handleRequest() {
        guard state.phase == .responding, let context = output.context, let request = incoming.take() else {
            return
        }
        let (info, result) = dispatcher.handle(request, from: client, gate: gate)
        switch result {
        case .response(let response): ready = (info, response)
        case .commit(let commit):
            // Waits for the database only.
            wait(for: info, nil, atMost: .zero)
            round.add(commit, of: info, on: self)
        case .work(let work):
            let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
            let dispatcher = self.dispatcher
            // Unstructured, because a client that hangs up must not undo what is being committed: only long
            // polls are cancelled.
            let task = Task(executorPreference: executor) {
                let result = await dispatcher.result(of: work, for: info)
                connection.value.workEnded(info, result)
            }
            wait(for: info, task, atMost: info.endpoint?.wait.longest ?? .zero)
            if endsEarly { endEarly() }
        }
    }

    func writeResponse() {
        guard let (info, response) = ready.take() else { return }
        finish(info, with: response)
        processPipelined()
    }

    func sendResponse() {
        output.flush()
        releaseRead()
        keepTimer()
    }

    // A request that has to wait

    private func wait(for info: RequestInfo, _ task: Task<Void, Never>?, atMost ownWait: TimeAmount) {
        pending = (info, task)
        state.workBegan(at: .now(), waiting: ownWait)
        keepTimer()
    }

    private func workEnded(_ info: RequestInfo, _ result: Dispatcher.WorkResult) {
        switch result {
        case .response(let response): if finishLater(info, with: response) { round.add(self) }
        // Also after the time limit: a retry of the caller finds the stored result.
        case .commit(let commit): round.add(commit, of: info, on: self)
        }
    }

    /// - Returns: `true` if there is a response to write.
    func finish(_ commit: FinishedCommits.Commit) -> Bool {
        finishLater(commit.info, with: dispatcher.response(to: commit))
    }

    private func finishLater(_ info: RequestInfo, with response: HTTPResponse) -> Bool {
        guard pending != nil else {
            dispatcher.observer.recordLate()
            return false
        }
        pending = nil
        ready = (info, response)
        return true
    }

    private func finish(_ info: RequestInfo, with response: HTTPResponse) {
        let now = NIODeadline.now()
        let response = CrossOriginAccess.granted(by: info.endpoint, response)
        output.write(response, to: info, closes: state.isLastResponse)
        dispatcher.observer.record(info, response, finishedAt: now)
        use(at: now)
        state.idleTime = siblings.idleTime
        if state.responded(at: now) == .closeWhenWritten { closeWhenWritten() }
    }

    /// Responds to a request that has reached its time limit. Its work goes on, because the command may
    /// become durable.
    func giveUp() {
        guard let pending else { return }
        self.pending = nil
        finish(pending.info, with: dispatcher.unavailable(pending.info))
        output.flush()
    }

    /// Ends a long poll with the events that it has.
    func endEarly() {
        endsEarly = true
        if let pending, pending.info.endpoint?.wait.isLongPoll == true { pending.task?.cancel() }
    }
}
