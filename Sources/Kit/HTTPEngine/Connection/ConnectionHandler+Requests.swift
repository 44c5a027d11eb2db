import NIOCore
import NIOHTTP1

/// Requests in their order. Input that arrives while a request is being handled, or while responses are
/// unread by the client, waits in `pipelined`.
extension ConnectionHandler {
    func receive(_ input: PipelineQueue.Input) {
        // Nothing waits before it, so a long poll has lost its reader.
        if state.phase == .responding, case .inputEnded = input, pipelined.isEmpty {
            return carryOut(state.inputEnded(at: .now()))
        }
        if mustWait {
            pipelined.append(input)
            // The channel becomes writable again only when bytes are sent.
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

    /// One request is handled at a time. None is handled while the client has unread responses, which are far
    /// larger than their requests.
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

    /// Responds to a request that is incomplete and will stay incomplete.
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
