import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Runs an endpoint with its fault: skips or does the work, then delays, changes or cuts the response.
struct FaultInjection: Sendable {
    let state: EmulatorState
    let endpoint: EmulatedEndpoint

    /// - Parameter work: Changes the state and returns the response. Receives the fault for details that only
    ///   the endpoint can apply.
    func respond(
        on channel: any Channel, _ work: (EndpointFault?) async throws -> EndpointResponse
    ) async throws -> Response {
        let fault = state.beginRequest(on: endpoint)
        let response = fault?.works == false ? EndpointResponse() : try await work(fault)
        return try await carryOut(FaultyResponse(response, fault: fault), on: channel)
    }

    private func carryOut(_ faulty: FaultyResponse, on channel: any Channel) async throws -> Response {
        if faulty.delayMilliseconds > 0 {
            // A shutdown must not wait for the delay.
            try await cancelWhenGracefulShutdown { try await state.clock.sleep(faulty.delayMilliseconds) }
        }
        if faulty.cut == .beforeResponse || faulty.cut == .beforeWork { try await hangUp(channel) }
        guard faulty.cut == .midBody else { return faulty.response.hummingbird }
        let body = faulty.response.body
        return Response(
            status: .init(code: faulty.response.status), headers: faulty.response.headerFields,
            // An empty body is announced with one byte, so that the connection can be closed before the end
            // of the body.
            body: ResponseBody(contentLength: max(1, body.count)) { writer in
                try await writer.write(ByteBuffer(bytes: body.prefix(body.count / 2)))
                try await hangUp(channel)
            })
    }

    /// Closes the connection during the response. Always throws.
    private func hangUp(_ channel: any Channel) async throws -> Never {
        try await channel.close()
        throw CancellationError()
    }
}
