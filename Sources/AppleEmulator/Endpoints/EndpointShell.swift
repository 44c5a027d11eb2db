import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Lets an endpoint do its work, or not, and carries out what the fault of the hour makes of its answer.
struct EndpointShell: Sendable {
    let state: EmulatorState
    let endpoint: EmulatedEndpoint

    /// - Parameter work: changes the world and answers. It is told the fault, for what only it can do.
    func respond(
        on channel: any Channel, _ work: (EndpointFault?) async throws -> EndpointAnswer
    ) async throws -> Response {
        let fault = state.beginRequest(on: endpoint)
        let answer = fault?.works == false ? EndpointAnswer() : try await work(fault)
        return try await carryOut(EndpointReply(answer, fault: fault), on: channel)
    }

    private func carryOut(_ reply: EndpointReply, on channel: any Channel) async throws -> Response {
        if reply.delayMilliseconds > 0 {
            // A shutdown must not wait for a fault to end.
            try await cancelWhenGracefulShutdown { try await state.clock.sleep(reply.delayMilliseconds) }
        }
        if reply.cut == .beforeAnswer || reply.cut == .beforeWork { try await hangUp(channel) }
        guard reply.cut == .midBody else { return reply.answer.response }
        let body = reply.answer.body
        return Response(
            status: .init(code: reply.answer.status), headers: reply.answer.headerFields,
            // An empty body is promised one byte, so that there is a middle to hang up in.
            body: ResponseBody(contentLength: max(1, body.count)) { writer in
                try await writer.write(ByteBuffer(bytes: body.prefix(body.count / 2)))
                try await hangUp(channel)
            })
    }

    /// Closes the connection under the answer, and never returns normally.
    private func hangUp(_ channel: any Channel) async throws -> Never {
        try await channel.close()
        throw CancellationError()
    }
}
