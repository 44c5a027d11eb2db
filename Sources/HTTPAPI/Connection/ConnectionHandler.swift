import NIOCore
import NIOHTTP1

/// One client connection: collects a request, has it handled, writes the response.
///
/// Makes no decision about time or size; `ConnectionState` does. Everything here runs on the connection's
/// event loop. Requests that arrive while one is being handled, or while responses wait to be read, wait
/// themselves, and so does the socket, so that a client cannot fill memory by sending requests faster than it
/// reads responses.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let dispatcher: Dispatcher
    private let gate: AdmissionGate
    private let round: EventLoopRound
    private let executor: EventLoopTaskExecutor
    private let siblings: LoopConnections
    private let bodies: BodyMemoryBudget
    /// `nil` for addresses that may open any number of connections.
    let client: ClientAddress?
    /// When the last request began or was answered.
    private(set) var usedAt: NIODeadline
    /// `nil` before the connection is counted, and after it was closed early.
    private var place: RecencyList<ConnectionHandler>.Place?
    private var state: ConnectionState
    private var unparsed: UnparsedBytes
    private let output: ConnectionOutput
    private var timer: (task: Scheduled<Void>, dueAt: NIODeadline)?
    private var incoming: IncomingRequest?
    private var pipelined: PipelineQueue
    private var isReadHeld = false
    /// The request that waits for the database or for a task. `nil` also when it was answered because of its
    /// time limit.
    private var pending: (info: RequestInfo, task: Task<Void, Never>?)?
    /// A response that is not written yet.
    private var ready: (info: RequestInfo, response: HTTPResponse)?
    /// The client has closed its side, or the service stops. Also holds for a request that is not handled
    /// yet.
    private var endsEarly = false

    init(loop: ConnectionLoop, remoteAddress: SocketAddress?) {
        (dispatcher, gate, round) = (loop.dispatcher, loop.gate, loop.round)
        (executor, siblings, bodies) = (loop.executor, loop.connections, loop.bodies)
        client = loop.connections.client(at: remoteAddress)
        usedAt = .now()
        state = ConnectionState(limits: loop.limits, openedAt: usedAt)
        unparsed = UnparsedBytes(limits: loop.limits)
        output = ConnectionOutput(date: loop.dispatcher.date)
        pipelined = PipelineQueue(mostRequests: loop.limits.waitingRequests)
    }

    // Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        output.context = context
        dispatcher.observer.connectionOpened()
        place = siblings.open(self)
        siblings.enforceLimits(for: self, on: context.eventLoop)
        keepTimer()
    }

    func channelActive(context: ChannelHandlerContext) {
        guard place != nil else { return context.close(promise: nil) }
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        dispatcher.observer.connectionClosed()
        leave()
        timer?.task.cancel()
        timer = nil
        output.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        pipelined.removeAll()
        endEarly()
        context.fireChannelInactive()
    }

    /// - Returns: whether the decoder gets the bytes.
    func bytesReceived(_ count: Int) -> Bool {
        // Bytes that are dropped must not gather in the decoder.
        guard state.phase != .closing else { return false }
        if let code = unparsed.received(count) {
            receive(.refused(code))
            return false
        }
        guard state.phase == .waiting else { return true }
        let now = NIODeadline.now()
        use(at: now)
        state.bytesArrived(at: now)
        keepTimer()
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head: unparsed.parsedHead()
        case .body(let bytes): unparsed.parsedBody(bytes.readableBytes)
        case .end: unparsed.parsedEnd()
        }
        receive(.part(part))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        output.flush()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        // One read beyond the request that is being handled is let through: taking the socket out of the
        // event loop's interest and putting it back costs two system calls, and a client that hangs up would
        // not be noticed.
        let isBusy = !pipelined.isEmpty || !context.channel.isWritable
        if isBusy { isReadHeld = true } else { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            state.drained(at: .now())
            processPipelined()
            output.flush()
            releaseRead()
        } else {
            state.stalled(at: .now())
        }
        keepTimer()
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: receive(.inputEnded)
        case is ChannelShouldQuiesceEvent: carryOut(state.quiesce(at: .now()))
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
        receive(.refused(error == .headerOverflow ? .headerTooLarge : .requestMalformed))
    }

    // Reading a request

    private func receive(_ input: PipelineQueue.Input) {
        // Nothing waits before it, so a long poll has lost its reader.
        if state.phase == .responding, case .inputEnded = input, pipelined.isEmpty {
            return carryOut(state.inputEnded(at: .now()))
        }
        if mustWait {
            pipelined.append(input)
            // Only what is sent makes the channel writable again.
            return output.flush()
        }
        process(input)
    }

    private func process(_ input: PipelineQueue.Input) {
        switch input {
        case .inputEnded: carryOut(state.inputEnded(at: .now()))
        case .part(let part): if state.phase != .closing { process(part) }
        case .refused(let code): if state.phase != .closing { refuse(code) }
        }
    }

    private func processPipelined() {
        while !mustWait, let input = pipelined.popFirst() { process(input) }
    }

    /// One request is handled at a time, and none while the client has responses to read, which are far
    /// larger than the requests for them.
    private var mustWait: Bool {
        switch state.phase {
        case .responding: true
        case .closing: false
        case .waiting, .receiving: !output.isWritable
        }
    }

    private func process(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head): process(head)
        case .body(var bytes):
            let action = state.bodyArrived(byteCount: bytes.readableBytes)
            guard action == .keep else { return refuse(.bodyTooLarge) }
            guard incoming?.append(&bytes, within: bodies) != false else { return refuse(.overloaded) }
        case .end:
            state.endArrived()
            round.add(self)
        }
    }

    private func process(_ head: HTTPRequestHead) {
        let now = NIODeadline.now()
        gate.requestArrived(at: now)
        let request = IncomingRequest(head: head, startedAt: now)
        let action = state.headArrived(
            announcing: request.fields.contentLength, keepsAlive: request.keepsAlive, at: now)
        incoming = request
        keepTimer()
        guard action == .collectBody else { return refuse(.bodyTooLarge) }
        guard request.isClear else { return refuse(.requestMalformed) }
        if request.fields.expectsContinue { output.writeContinue() }
    }

    /// Answers a request that is not complete and never will be.
    private func refuse(_ code: ProblemCode) {
        let request = incoming.take()
        let info = RequestInfo(
            method: request?.head.method, route: nil,
            requestID: RequestID.accept(request?.fields.requestID) ?? RequestID.make(),
            startedAt: request?.startedAt ?? .now())
        let response = dispatcher.refusal(code, target: request?.head.uri, info)
        output.write(response, to: info, closes: true)
        let now = NIODeadline.now()
        dispatcher.observer.record(info, response, finishedAt: now)
        state.refused(at: now)
        output.flush()
        output.closeOutput()
        keepTimer()
    }

    // The stages of a round. Each does only what has to be done for this connection.

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
            wait(for: info, task, atMost: info.route?.ownWait ?? .zero)
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
        // Also when the time limit has passed: a retry of the caller finds what was stored.
        case .commit(let commit): round.add(commit, of: info, on: self)
        }
    }

    /// - Returns: whether there is a response to write.
    func finish(_ commit: FinishedCommits.Commit) -> Bool {
        finishLater(commit.info, with: dispatcher.response(to: commit))
    }

    private func finishLater(_ info: RequestInfo, with response: HTTPResponse) -> Bool {
        guard pending != nil else {
            dispatcher.observer.recordLate(info, response)
            return false
        }
        pending = nil
        ready = (info, response)
        return true
    }

    private func finish(_ info: RequestInfo, with response: HTTPResponse) {
        let now = NIODeadline.now()
        output.write(response, to: info, closes: state.isLastResponse)
        dispatcher.observer.record(info, response, finishedAt: now)
        use(at: now)
        state.idleTime = siblings.idleTime
        if state.responded(at: now) == .closeWhenWritten { closeWhenWritten() }
    }

    /// Answers a request that has reached its time limit. Its work goes on, because what it commits may be
    /// durable.
    private func giveUp() {
        guard let pending else { return }
        self.pending = nil
        finish(pending.info, with: dispatcher.unavailable(pending.info))
        output.flush()
    }

    /// Ends a long poll with what it has.
    private func endEarly() {
        endsEarly = true
        if let pending, pending.info.route?.isLongPoll == true { pending.task?.cancel() }
    }

    // The connection among the others

    var isExpendable: Bool { state.isExpendable }
    var isIdle: Bool { state.phase == .waiting }

    /// Closes to make room for another connection.
    func closeEarly() {
        leave()
        output.context?.close(promise: nil)
    }

    private func use(at now: NIODeadline) {
        usedAt = now
        if let place { siblings.used(place) }
    }

    private func leave() {
        guard let place else { return }
        self.place = nil
        siblings.closed(place, from: client)
    }

    // Closing and time limits

    private func closeWhenWritten() {
        output.closeWhenWritten()
        keepTimer()
    }

    private func releaseRead() {
        guard isReadHeld, pipelined.isEmpty, let context = output.context, output.isWritable else { return }
        isReadHeld = false
        context.read()
    }

    private func carryOut(_ action: ConnectionState.EndAction) {
        switch action {
        case .closeWhenWritten: closeWhenWritten()
        case .finishResponse: endEarly()
        }
    }

    /// Keeps one timer that is never late. It may be early, and then only looks at the deadline: moving it
    /// with every request would cost more than the rest of a request's timekeeping.
    private func keepTimer() {
        guard let deadline = state.deadline, let context = output.context else { return }
        if let dueAt = timer?.dueAt, dueAt <= deadline { return }
        timer?.task.cancel()
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: deadline) { connection.value.timerFired() }
        timer = (task, deadline)
    }

    private func timerFired() {
        timer = nil
        switch state.timerFired(at: .now()) {
        case .wait: keepTimer()
        case .rest: break
        case .respondTimeout: refuse(.requestTimeout)
        case .respondUnavailable: giveUp()
        case .close: output.context?.close(promise: nil)
        }
    }
}
