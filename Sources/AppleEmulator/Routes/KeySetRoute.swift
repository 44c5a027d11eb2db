import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// `GET /auth/keys`, as Apple answers it or as the fault of the hour has it.
struct KeySetRoute: Sendable {
    let state: EmulatorState
    let clock: EmulatorClock

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("auth/keys") { request, context in
            let reply = state.answerKeySetRequest(ifNoneMatch: request.headers[.ifNoneMatch])
            return try await carryOut(reply, on: context.channel)
        }
    }

    private func carryOut(_ reply: KeySetReply, on channel: any Channel) async throws -> Response {
        if reply.delayMilliseconds > 0 {
            // A shutdown must not wait for a fault to end.
            try await cancelWhenGracefulShutdown { try await clock.sleep(reply.delayMilliseconds) }
        }
        if reply.cut == .beforeAnswer { try await hangUp(channel) }
        var headers = HTTPFields()
        headers[.contentType] = reply.contentType
        headers[.cacheControl] = reply.cacheControl
        headers[.eTag] = reply.entityTag
        let status = HTTPResponse.Status(code: reply.status)
        guard reply.cut == .midBody else {
            return Response(
                status: status, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
        }
        return Response(
            status: status, headers: headers,
            body: ResponseBody(contentLength: reply.body.count) { writer in
                try await writer.write(ByteBuffer(bytes: reply.body.prefix(reply.body.count / 2)))
                try await hangUp(channel)
            })
    }

    /// Closes the connection under the answer, and never returns normally.
    private func hangUp(_ channel: any Channel) async throws -> Never {
        try await channel.close()
        throw CancellationError()
    }
}
