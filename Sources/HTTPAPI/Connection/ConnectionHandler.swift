import NIOCore
import NIOHTTP1

/// One client connection: collects a request, has it answered, writes the answer.
///
/// Makes no decision about time or size; `ConnectionState` does. Everything here runs on the connection's event loop.
/// Requests that arrive while one is being answered, or while answers wait to be read, wait themselves, and so does the
/// socket, so that a client cannot fill memory by asking faster than it reads.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let dispatcher: Dispatcher
    private let gate: AdmissionGate
    private let round: EventLoopRound
    private let executor: EventLoopTaskExecutor
    private let siblings: LoopConnections
    private let bodies: BodyAllowance
    /// `nil` for those of whom there may be any number.
    let client: ClientAddress?
    /// When the last request began or was answered.
    private(set) var usedAt: NIODeadline
    /// `nil` when there was none, or the connection has left it.
    private var place: RecencyList<ConnectionHandler>.Place?
    private var state: ConnectionState
    private var unclaimed: UnclaimedBytes
    private var context: ChannelHandlerContext?
    private var timer: (task: Scheduled<Void>, dueAt: NIODeadline)?
    private var arriving: ArrivingRequest?
    private var pending: WaitingArrivals
    private var isReadHeld = false
    private var needsFlush = false
    /// `nil` too when its answer came to be too late.
    private var running: (exchange: Exchange, task: Task<Void, Never>?)?
    /// Made, and not yet written.
    private var made: (exchange: Exchange, answer: Answer)?
    /// Nobody waits on this connection any more, also if the request has not been begun yet.
    private var endsEarly = false

    init(loop: ConnectionLoop, remoteAddress: SocketAddress?) {
        (dispatcher, gate, round) = (loop.dispatcher, loop.gate, loop.round)
        (executor, siblings, bodies) = (loop.executor, loop.connections, loop.bodies)
        client = loop.connections.client(at: remoteAddress)
        usedAt = .now()
        state = ConnectionState(limits: loop.limits, openedAt: usedAt)
        unclaimed = UnclaimedBytes(limits: loop.limits)
        pending = WaitingArrivals(mostRequests: loop.limits.waitingRequests)
    }

    // Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        dispatcher.observer.connectionOpened()
        place = siblings.open(self)
        siblings.makeRoom(for: self, on: context.eventLoop)
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
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        pending.removeAll()
        endEarly()
        context.fireChannelInactive()
    }

    /// - Returns: whether the decoder is to have them.
    func bytesArrived(_ count: Int) -> Bool {
        // What is thrown away must not gather in the decoder before.
        guard state.phase != .closing else { return false }
        if let code = unclaimed.arrived(count) {
            take(.refused(code))
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
        case .head: unclaimed.claimedHead()
        case .body(let bytes): unclaimed.claimedBody(bytes.readableBytes)
        case .end: unclaimed.claimedEnd()
        }
        take(.part(part))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        flush()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        // One read beyond the request that is being answered is let through: taking the socket out of the event loop's
        // interest and putting it back costs two system calls, and a reader that hangs up would not be noticed.
        let isBusy = !pending.isEmpty || !context.channel.isWritable
        if isBusy { isReadHeld = true } else { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            state.drained(at: .now())
            takePending()
            flush()
            releaseRead()
        } else {
            state.stalled(at: .now())
        }
        keepTimer()
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: take(.inputEnded)
        case is ChannelShouldQuiesceEvent: carryOut(state.quiesce(at: .now()))
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
        take(.refused(error == .headerOverflow ? .headerTooLarge : .requestMalformed))
    }

    // A request

    private func take(_ arrival: WaitingArrivals.Arrival) {
        // Nothing waits before it: a long poll has lost its reader.
        if state.phase == .answering, case .inputEnded = arrival, pending.isEmpty {
            return carryOut(state.inputEnded(at: .now()))
        }
        if mustWait {
            pending.append(arrival)
            // Only what leaves makes room, and with it the channel becomes writable again.
            return flush()
        }
        switch arrival {
        case .inputEnded: carryOut(state.inputEnded(at: .now()))
        case .part(let part): if state.phase != .closing { take(part) }
        case .refused(let code): if state.phase != .closing { refuse(code) }
        }
    }

    /// One request is answered at a time, and none while the client has answers to read: they are far larger than what
    /// asks for them.
    private var mustWait: Bool {
        switch state.phase {
        case .answering: true
        case .closing: false
        case .waiting, .receiving: context?.channel.isWritable == false
        }
    }

    private func take(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head): take(head)
        case .body(var bytes):
            let action = state.bodyArrived(byteCount: bytes.readableBytes)
            guard action == .keep else { return refuse(.bodyTooLarge) }
            guard arriving?.append(&bytes, within: bodies) != false else { return refuse(.overloaded) }
        case .end:
            state.endArrived()
            round.add(self)
        }
    }

    private func take(_ head: HTTPRequestHead) {
        let now = NIODeadline.now()
        gate.requestArrived(at: now)
        let request = ArrivingRequest(head: head, startedAt: now)
        let action = state.headArrived(
            announcing: request.fields.contentLength, keepsAlive: request.keepsAlive, at: now)
        arriving = request
        keepTimer()
        guard action == .collectBody else { return refuse(.bodyTooLarge) }
        guard request.isClear else { return refuse(.requestMalformed) }
        if request.fields.expectsContinue { write { $0.writeStaticString(AnswerEncoder.continueResponse) } }
    }

    // Its place among the others

    var isExpendable: Bool { state.isExpendable }
    var isIdle: Bool { state.phase == .waiting }

    /// Makes room for another connection.
    func closeEarly() {
        leave()
        context?.close(promise: nil)
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

    // The stages of a round. Of each, only what is to be done for this connection.

    func handleRequest() {
        guard state.phase == .answering, let context, let request = arriving.take() else { return }
        let (exchange, result) = dispatcher.handle(request, gate: gate)
        switch result {
        case .response(let answer): made = (exchange, answer)
        case .commit(let commit):
            // Waits for the database only.
            workBegan(exchange, nil, waiting: .zero)
            round.add(commit, of: exchange, on: self)
        case .work(let work):
            let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
            let dispatcher = self.dispatcher
            // Unstructured, because a client that hangs up must not undo what is being committed: only calls that
            // merely wait are cancelled.
            let task = Task(executorPreference: executor) {
                let result = await dispatcher.result(of: work, for: exchange)
                connection.value.workEnded(exchange, result)
            }
            workBegan(exchange, task, waiting: exchange.route?.ownWait ?? .zero)
            if endsEarly { endEarly() }
        }
    }

    private func workBegan(_ exchange: Exchange, _ task: Task<Void, Never>?, waiting ownWait: TimeAmount) {
        running = (exchange, task)
        state.workBegan(at: .now(), waiting: ownWait)
        keepTimer()
    }

    private func workEnded(_ exchange: Exchange, _ result: Dispatcher.WorkResult) {
        switch result {
        case .response(let answer): if finishLater(exchange, with: answer) { round.add(self) }
        // Also when the connection has given up waiting: the caller's retry then finds what is stored.
        case .commit(let commit): round.add(commit, of: exchange, on: self)
        }
    }

    func writeResponse() {
        guard let (exchange, answer) = made.take() else { return }
        finish(exchange, with: answer)
        takePending()
    }

    func sendResponse() {
        flush()
        releaseRead()
        keepTimer()
    }

    /// - Returns: whether there is a response to write.
    func finish(_ commit: FinishedCommits.Commit) -> Bool {
        finishLater(commit.exchange, with: dispatcher.response(to: commit))
    }

    private func finishLater(_ exchange: Exchange, with answer: Answer) -> Bool {
        guard running != nil else {
            dispatcher.observer.recordLate(exchange, answer)
            return false
        }
        running = nil
        made = (exchange, answer)
        return true
    }

    private func finish(_ exchange: Exchange, with answer: Answer) {
        let now = NIODeadline.now()
        write(answer, to: exchange, closes: state.isLastAnswer)
        dispatcher.observer.record(exchange, answer, finishedAt: now)
        use(at: now)
        state.idleTime = siblings.idleTime
        if state.answered(at: now) == .closeWhenWritten { closeWhenWritten() }
    }

    private func takePending() {
        while !mustWait, let arrival = pending.popFirst() { take(arrival) }
    }

    /// Answers a request that is not complete and never will be.
    private func refuse(_ code: ProblemCode) {
        let request = arriving.take()
        let exchange = Exchange(
            method: request?.head.method, route: nil,
            requestID: RequestID.accept(request?.fields.requestID) ?? RequestID.make(),
            startedAt: request?.startedAt ?? .now())
        let answer = Answer.problem(Problem(code), requestID: exchange.requestID)
        write(answer, to: exchange, closes: true)
        let now = NIODeadline.now()
        dispatcher.observer.record(exchange, answer, finishedAt: now)
        state.refused(at: now)
        flush()
        context?.close(mode: .output, promise: nil)
        keepTimer()
    }

    // The socket

    private func write(_ fill: (inout ByteBuffer) -> Void) {
        guard let context, context.channel.isActive else { return }
        var buffer = context.channel.allocator.buffer(capacity: 1024)
        fill(&buffer)
        write(buffer)
    }

    private func write(_ answer: Answer, to exchange: Exchange, closes: Bool) {
        write { buffer in
            AnswerEncoder.encode(
                answer, requestID: exchange.requestID, date: dispatcher.date.text,
                omitsBody: exchange.omitsBody, closes: closes, into: &buffer)
        }
        if let body = answer.sharedBody, !exchange.omitsBody { write(body) }
    }

    private func write(_ buffer: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        context.write(wrapOutboundOut(buffer), promise: nil)
        needsFlush = true
    }

    private func flush() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
    }

    private func closeWhenWritten() {
        guard let context else { return }
        needsFlush = false
        // An empty write behind the answer: its promise is kept when everything before it has left.
        let written = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        keepTimer()
    }

    private func releaseRead() {
        guard isReadHeld, pending.isEmpty, let context, context.channel.isWritable else { return }
        isReadHeld = false
        context.read()
    }

    private func carryOut(_ action: ConnectionState.EndAction) {
        switch action {
        case .closeWhenWritten: closeWhenWritten()
        case .finishAnswer: endEarly()
        }
    }

    /// Ends a long poll with what it has.
    private func endEarly() {
        endsEarly = true
        if let running, running.exchange.route?.waits == true { running.task?.cancel() }
    }

    /// Keeps one timer that is never late. It may be early, and then only looks: moving it with every request would
    /// cost more than the request's other timekeeping together.
    private func keepTimer() {
        guard let deadline = state.deadline, let context else { return }
        if let dueAt = timer?.dueAt, dueAt <= deadline { return }
        timer?.task.cancel()
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: deadline) { connection.value.timerFired() }
        timer = (task, deadline)
    }

    /// Answers for a call that takes too long. It goes on, because what it commits may be durable already.
    private func giveUp() {
        guard let running else { return }
        self.running = nil
        finish(running.exchange, with: dispatcher.unavailable(running.exchange))
        flush()
    }

    private func timerFired() {
        timer = nil
        switch state.timerFired(at: .now()) {
        case .wait: keepTimer()
        case .rest: break
        case .answerTimeout: refuse(.requestTimeout)
        case .answerUnavailable: giveUp()
        case .close: context?.close(promise: nil)
        }
    }
}
