import NIOCore
import NIOHTTP1

/// Requests in their order. What arrives while one is being handled, or while responses wait to be read, waits
/// in `pipelined`.
extension ConnectionHandler {
    func receive(_ input: PipelineQueue.Input) {
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

    func processPipelined() {
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
    func refuse(_ code: ProblemCode) {
        let request = incoming.take()
        let info = RequestInfo(
            method: request?.head.method,
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
}
