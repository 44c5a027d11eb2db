import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Runs an endpoint with the fault that is set on it: skips or does its work, then delays, changes or cuts
/// the response.
struct EndpointShell: Sendable {
    let state: EmulatorState
    let endpoint: EmulatedEndpoint

    /// - Parameter work: Changes the state and returns the response. It gets the fault for details that only
    ///   the endpoint can apply.
    func respond(
        on channel: any Channel, _ work: (EndpointFault?) async throws -> EndpointAnswer
    ) async throws -> Response {
        let fault = state.beginRequest(on: endpoint)
        let answer = fault?.works == false ? EndpointAnswer() : try await work(fault)
        return try await carryOut(EndpointReply(answer, fault: fault), on: channel)
    }

    private func carryOut(_ reply: EndpointReply, on channel: any Channel) async throws -> Response {
        if reply.delayMilliseconds > 0 {
            // A shutdown must not wait for the delay.
            try await cancelWhenGracefulShutdown { try await state.clock.sleep(reply.delayMilliseconds) }
        }
        if reply.cut == .beforeAnswer || reply.cut == .beforeWork { try await hangUp(channel) }
        guard reply.cut == .midBody else { return reply.answer.response }
        let body = reply.answer.body
        return Response(
            status: .init(code: reply.answer.status), headers: reply.answer.headerFields,
            // For an empty body, one byte is announced, so that the connection can be closed before the end
            // of the body.
            body: ResponseBody(contentLength: max(1, body.count)) { writer in
                try await writer.write(ByteBuffer(bytes: body.prefix(body.count / 2)))
                try await hangUp(channel)
            })
    }

    /// Closes the connection during the response. It always throws.
    private func hangUp(_ channel: any Channel) async throws -> Never {
        try await channel.close()
        throw CancellationError()
    }
}
