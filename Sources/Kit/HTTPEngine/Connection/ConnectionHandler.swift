import NIOCore
import NIOHTTP1

/// Handles one client connection from start to end: its channel events, its place among the other
/// connections, and its time limits.
///
/// The handler itself makes no decisions about time or size: `ConnectionState` makes them. It runs only on
/// the connection's event loop, where it collects a request, passes it on and writes the response. While a
/// request is being handled, or while the client has unread responses, later requests wait and the handler
/// stops reading from the socket. So a client cannot fill memory by sending requests faster than it reads
/// responses.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let interface: any HTTPInterface
    let gate: AdmissionGate
    let round: EventLoopRound
    let executor: EventLoopTaskExecutor
    let bodies: BodyMemoryBudget
    let siblings: LoopConnections
    /// The connection's client; `nil` for an address that may open any number of connections.
    let client: ClientAddress?
    /// Time at which the last request began, or at which its response was written.
    private(set) var usedAt: NIODeadline
    /// Place in the connection list; `nil` until the connection is counted, and after it was closed early.
    private var place: RecencyList<ConnectionHandler>.Place?
    var state: ConnectionState
    private var unparsed: UnparsedBytes
    let output: ConnectionOutput
    private var timer: (task: Scheduled<Void>, dueAt: NIODeadline)?
    private var isReadHeld = false

    // Requests and their responses

    /// Request that is still incomplete, or complete but not yet handled.
    var incoming: IncomingRequest?
    var pipelined: PipelineQueue
    /// Request that waits for the database or for a task. It becomes `nil` at its time limit, because the
    /// client then receives a response.
    var pending: (exchange: any HTTPExchange, task: Task<Void, Never>?)?
    /// Response that has not been written yet.
    var ready: (exchange: any HTTPExchange, response: HTTPResponse)?
    /// True if the client has closed its side, or the service is stopping. It also applies to a request that
    /// has not been handled yet.
    var endsEarly = false

    init(loop: ConnectionLoop, remoteAddress: SocketAddress?) {
        (interface, gate, round) = (loop.interface, loop.gate, loop.round)
        (executor, siblings, bodies) = (loop.executor, loop.connections, loop.bodies)
        client = loop.connections.client(at: remoteAddress)
        usedAt = .now()
        state = ConnectionState(limits: loop.limits, openedAt: usedAt)
        unparsed = UnparsedBytes(limits: loop.limits)
        output = ConnectionOutput(date: loop.date)
        pipelined = PipelineQueue(mostRequests: loop.limits.waitingRequests)
    }

    // Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        output.context = context
        interface.connectionOpened()
        place = siblings.open(self)
        siblings.enforceLimits(for: self, on: context.eventLoop)
        keepTimer()
    }

    func channelActive(context: ChannelHandlerContext) {
        guard place != nil else { return context.close(promise: nil) }
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        interface.connectionClosed()
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

    /// - Returns: True if the decoder may get the bytes.
    func bytesReceived(_ count: Int) -> Bool {
        // A closing connection drops its input, so the decoder must not collect the bytes.
        guard state.phase != .closing else { return false }
        if let refusal = unparsed.received(count) {
            receive(.refused(refusal))
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
        // The handler allows one more read while it handles a request, because deregistering the socket from
        // the event loop and registering it again would cost two system calls, and meanwhile the service
        // would not notice a client that disconnects.
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
        receive(.refused(error == .headerOverflow ? .headerTooLarge : .malformed))
    }

    // Place among the other connections

    var isExpendable: Bool { state.isExpendable }
    var isIdle: Bool { state.phase == .waiting }

    /// Closes the connection to make room for another connection.
    func closeEarly() {
        leave()
        output.context?.close(promise: nil)
    }

    /// Records the time at which a request began, or at which its response was written.
    func use(at now: NIODeadline) {
        usedAt = now
        if let place { siblings.used(place) }
    }

    private func leave() {
        guard let place else { return }
        self.place = nil
        siblings.closed(place, from: client)
    }

    // Closing and time limits

    func closeWhenWritten() {
        output.closeWhenWritten()
        keepTimer()
    }

    /// Resumes reading from the socket once no request and no response is waiting.
    func releaseRead() {
        guard isReadHeld, pipelined.isEmpty, let context = output.context, output.isWritable else { return }
        isReadHeld = false
        context.read()
    }

    func carryOut(_ action: ConnectionState.EndAction) {
        switch action {
        case .closeWhenWritten: closeWhenWritten()
        case .finishResponse: endEarly()
        }
    }

    /// Keeps one timer, which may fire early but never late. A timer that fires early only checks the
    /// deadline, because moving the timer with every request would cost more than all of the request's other
    /// time measurements.
    func keepTimer() {
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
        case .respondTimeout: refuse(.timedOut)
        case .respondUnavailable: giveUp()
        case .close: output.context?.close(promise: nil)
        }
    }
}

/// Handles requests in order. Input that arrives while a request is being handled, or while the client has
/// unread responses, waits in `pipelined`.
extension ConnectionHandler {
    func receive(_ input: PipelineQueue.Input) {
        // No request is queued before the end of the input, so the client has disconnected, which ends a long
        // poll.
        if state.phase == .responding, case .inputEnded = input, pipelined.isEmpty {
            return carryOut(state.inputEnded(at: .now()))
        }
        if mustWait {
            pipelined.append(input)
            // The channel becomes writable again only when bytes are sent, so pending output is flushed now.
            return output.flush()
        }
        process(input)
    }

    private func process(_ input: PipelineQueue.Input) {
        switch input {
        case .inputEnded: carryOut(state.inputEnded(at: .now()))
        case .part(let part): if state.phase != .closing { process(part) }
        case .refused(let refusal): if state.phase != .closing { refuse(refusal) }
        }
    }

    func processPipelined() {
        while !mustWait, let input = pipelined.popFirst() { process(input) }
    }

    /// True while a request is being handled, or while the client has unread responses, which are far larger
    /// than their requests.
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
        guard request.isClear else { return refuse(.malformed) }
        if request.fields.expectsContinue { output.writeContinue() }
    }

    /// Responds to a request that will never be complete.
    func refuse(_ refusal: RequestRefusal) {
        let (exchange, response) = interface.refuse(refusal, of: incoming.take())
        let now = NIODeadline.now()
        output.write(exchange.finish(response, at: now), to: exchange, closes: true)
        state.refused(at: now)
        output.flush()
        output.closeOutput()
        keepTimer()
    }
}

/// Stages of an event-loop round, and handling of requests that wait for the database or for a task. Each
/// stage does only the work that this connection needs.
extension ConnectionHandler {
    func handleRequest() {
        guard state.phase == .responding, output.context != nil, let request = incoming.take() else { return }
        let (exchange, source) = interface.handle(
            request, from: siblings.requester(of: request.fields, from: client), gate: gate)
        switch source {
        case .response(let response): ready = (exchange, response)
        case .command(let gather):
            // The limit is zero, because the request waits only for the database unless the command leads to
            // more work.
            wait(for: exchange, nil, atMost: .zero)
            round.add(gather, of: exchange, on: self)
        case .work(let work):
            wait(for: exchange, task(of: exchange, work), atMost: exchange.longestWait)
            if endsEarly { endEarly() }
        }
    }

    /// Starts an unstructured task, because a disconnecting client must not undo a commit. Only long polls
    /// are cancelled.
    private func task(
        of exchange: any HTTPExchange, _ work: @escaping @Sendable () async -> ResponseSource
    ) -> Task<Void, Never> {
        let connection = NIOLoopBound(self, eventLoop: round.eventLoop)
        return Task(executorPreference: executor) {
            var source = await work()
            while case .work(let more) = source { source = await more() }
            let handler = connection.value
            if handler.advance(exchange, with: source) { handler.round.add(handler) }
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

    // Waiting requests

    private func wait(
        for exchange: any HTTPExchange, _ task: Task<Void, Never>?, atMost ownWait: TimeAmount
    ) {
        pending = (exchange, task)
        state.workBegan(at: .now(), waiting: ownWait)
        keepTimer()
    }

    /// Processes the result of a request. It does so even after the time limit, so that the caller's retry
    /// finds the stored result.
    ///
    /// - Returns: `true` if there is a response to write.
    private func advance(_ exchange: any HTTPExchange, with source: ResponseSource) -> Bool {
        switch source {
        case .response(let response): return finishLater(exchange, with: response)
        case .command(let gather): round.add(gather, of: exchange, on: self)
        case .work(let work):
            let task = task(of: exchange, work)
            guard pending != nil else { break }
            // As at the start of the request, the work may wait for something else, such as Apple's keys.
            wait(for: exchange, task, atMost: exchange.longestWait)
        }
        return false
    }

    /// Processes the result of a command. Returns `true` if there is a response to write.
    func finish(_ commit: FinishedCommits.Commit) -> Bool {
        advance(commit.exchange, with: commit.next())
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

    /// Responds to a request that has reached its time limit. The request's work continues, because its
    /// command may still become durable.
    func giveUp() {
        guard let pending else { return }
        self.pending = nil
        finish(pending.exchange, with: pending.exchange.unavailable)
        output.flush()
    }

    /// Ends a long poll early, so that its response contains the events received so far.
    func endEarly() {
        endsEarly = true
        if let pending, pending.exchange.isLongPoll { pending.task?.cancel() }
    }
}
