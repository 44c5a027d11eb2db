import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// The receivers, at `/webhook` and `/push`.
struct ReceiverRoutes: Sendable {
    /// Path to which a fault redirects, below the receiver's path.
    static let redirectTarget = "elsewhere"

    let state: ReceiverState

    func add(to router: Router<ReceiverRequestContext>) {
        for receiver in EmulatedReceiver.allCases {
            router.post(RouterPath(receiver.rawValue)) { request, context in
                try await receive(request, at: receiver, on: context.channel)
            }
            for method in [HTTPRequest.Method.post, .get] {
                router.on("\(receiver.rawValue)/\(Self.redirectTarget)", method: method) { _, _ in
                    state.update { $0.followed += 1 }
                    return Response(status: .noContent)
                }
            }
        }
    }

    private func receive(
        _ request: Request, at receiver: EmulatedReceiver, on channel: any Channel
    ) async throws -> Response {
        let fault = state.takeFault(of: receiver)
        switch fault?.kind {
        // Only new connections receive the wrong certificate, so old connections must close.
        case .down, .wrongCertificate:
            state.update { $0.dropped[receiver, default: 0] += 1 }
            try await hangUp(channel)
        case .slow, .hang, .error, .redirect, .hugeBody, nil: break
        }
        let message = await verify(request, at: receiver, fault: fault?.kind)
        let number = state.update { $0.log.add(message) }
        let response = try await answer(message, fault: fault, on: channel)
        let status = Int(response.status.code)
        state.update { $0.log.answer(number, status: status) }
        return response
    }

    private func verify(
        _ request: Request, at receiver: EmulatedReceiver, fault: ReceiverFault.Kind?
    ) async -> ReceivedMessage {
        let receivedAt = state.clock.now()
        func message(_ result: Result<EventFacts, MessageRefusal>, _ content: String) -> ReceivedMessage {
            ReceivedMessage(receiver, at: receivedAt, result, content: content, fault: fault)
        }
        guard let buffer = try? await request.body.collect(upTo: MessageChecks.longestBody) else {
            let text = "a body has at most \(MessageChecks.longestBody) bytes"
            return message(.failure(MessageRefusal(.bodyTooLarge, text)), "")
        }
        let (body, text) = (Array(buffer: buffer), String(buffer: buffer))
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
        let now = receivedAt / 1000
        do throws(MessageRefusal) {
            switch receiver {
            case .webhook:
                try require(type, "application/json")
                let event = try state.checks.webhook.check(request.headers, body, at: now)
                return message(.success(event), text)
            case .push:
                try require(type, PushedTokenCheck.mediaType)
                let check = PushedTokenCheck(
                    sender: state.update { $0.sender }, audience: state.checks.audience,
                    keys: state.checks.keys)
                let event = try await check.check(text, at: now)
                return message(.success(event), PushedTokenCheck.shownClaims(of: text) ?? text)
            }
        } catch {
            return message(.failure(error), text)
        }
    }

    private func require(_ type: String?, _ wanted: String) throws(MessageRefusal) {
        guard type == wanted else {
            throw MessageRefusal(.typeMismatch, "the content type must be \(wanted)")
        }
    }

    private func answer(
        _ message: ReceivedMessage, fault: ReceiverFault?, on channel: any Channel
    ) async throws -> Response {
        switch fault?.kind {
        case .slow: await state.wait((fault?.seconds ?? 0) * 1000)
        case .hang:
            await state.wait(ReceiverFault.hangMilliseconds)
            try await hangUp(channel)
        case .error: return Response(status: .init(code: fault?.status ?? 500))
        case .redirect:
            let target = "/\(message.receiver.rawValue)/\(Self.redirectTarget)"
            return Response(status: .temporaryRedirect, headers: [.location: target])
        case .hugeBody, .down, .wrongCertificate, nil: break
        }
        if let refusal = message.refusal { return Self.refused(refusal, message.receiver) }
        let status = HTTPResponse.Status(code: message.receiver.takenStatus)
        return fault?.kind == .hugeBody ? Self.huge() : Response(status: status)
    }

    private static func refused(_ refusal: MessageRefusal, _ receiver: EmulatedReceiver) -> Response {
        let status = HTTPResponse.Status(code: refusal.status)
        switch receiver {
        case .webhook:
            return .json(
                JSONObject([
                    ("code", .string(refusal.code.rawValue)), ("detail", .string(refusal.description)),
                ]), status: status)
        case .push:
            return .json(
                JSONObject([
                    ("err", .string(refusal.pushError)), ("description", .string(refusal.description)),
                ]), status: status)
        }
    }

    private static func huge() -> Response {
        let part = ByteBuffer(repeating: UInt8(ascii: "x"), count: 64 * 1024)
        return Response(
            status: .ok, headers: [.contentType: "text/plain"],
            body: ResponseBody(contentLength: ReceiverFault.hugeBody) { writer in
                for _ in 0..<(ReceiverFault.hugeBody / part.readableBytes) { try await writer.write(part) }
                try await writer.finish(nil)
            })
    }

    /// Closes the connection without a response. Always throws.
    private func hangUp(_ channel: any Channel) async throws -> Never {
        try await channel.close()
        throw CancellationError()
    }
}
