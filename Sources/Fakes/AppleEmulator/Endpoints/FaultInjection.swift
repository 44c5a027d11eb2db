import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Runs an endpoint with its fault: skips or does the work, then delays, changes or cuts the response.
struct FaultInjection: Sendable {
    let state: EmulatorState
    let endpoint: EmulatedEndpoint

    /// - Parameter work: Changes the state and returns the response. Receives the request with its whole body,
    ///   and the fault for details that only the endpoint can apply.
    func respond(
        to request: Request, on channel: any Channel,
        _ work: (Request, EndpointFault?) async throws -> EndpointResponse
    ) async throws -> Response {
        let start = state.exchangeStart
        let fault = state.beginRequest(on: endpoint)
        let (request, body) = await Self.collected(request)
        let response = fault?.works == false ? EndpointResponse() : try await work(request, fault)
        let faulty = FaultyResponse(response, fault: fault)
        defer { state.record(endpoint, request, body, faulty, since: start) }
        return try await carryOut(faulty, on: channel)
    }

    /// Reads the body once for the record and for the endpoint.
    private static func collected(_ request: Request) async -> (request: Request, body: [UInt8]) {
        var request = request
        let limit = FormFields.bodyLimit
        guard let buffer = try? await request.body.collect(upTo: limit) else {
            // The endpoint refuses the request for the size of its body.
            request.body = RequestBody(buffer: ByteBuffer(repeating: 0, count: limit + 1))
            return (request, [])
        }
        request.body = RequestBody(buffer: buffer)
        return (request, Array(buffer.readableBytesView))
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
