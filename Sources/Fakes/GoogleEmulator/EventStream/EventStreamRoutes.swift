import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// The paths of Google's RISC API.
struct EventStreamRoutes: Sendable {
    /// Bytes of a body, at most.
    static let longestBody = 16 * 1024

    let state: GoogleState

    func add(to router: Router<BasicRequestContext>) {
        on(router, .post, "v1beta/stream:update") { api, body throws(EventStreamRefusal) in
            try api.update(body)
        }
        on(router, .get, "v1beta/stream") { api, _ throws(EventStreamRefusal) in try api.stream() }
        on(router, .get, "v1beta/stream/status") { api, _ throws(EventStreamRefusal) in try api.status() }
        on(router, .post, "v1beta/stream/status:update") { api, body throws(EventStreamRefusal) in
            try api.setStatus(body)
        }
        on(router, .post, "v1beta/stream:verify") { api, body async throws(EventStreamRefusal) in
            try await api.verify(body)
        }
    }

    private typealias Respond =
        @Sendable (EventStreamAPI, [UInt8]) async throws(EventStreamRefusal)
        -> JSONObject

    private func on(
        _ router: Router<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: String,
        _ respond: @escaping Respond
    ) {
        router.on(RouterPath(path), method: method) { request, _ in
            let start = state.exchangeStart
            let body = Array(buffer: try await request.body.collect(upTo: Self.longestBody))
            // The token is not recorded: it is valid for an hour.
            let shown = "\(method.rawValue) /\(path)\nAuthorization: Bearer …\n\n\(ShownText.body(body))"
            let api = EventStreamAPI(state: state)
            do throws(EventStreamRefusal) {
                let fault = state.update { $0.faults.take(.stream) }
                if let delay = fault?.delayMilliseconds, delay > 0 { await state.wait(delay) }
                if let status = fault?.status { throw .fault(status) }
                try api.authorize(request.headers[.authorization])
                let json = try await respond(api, body)
                let text = ShownText.body(JSONValue.object(json).serialized())
                state.record(
                    .eventStream, "The service account calls \(path)", request: shown,
                    response: "200\n\(text)", status: 200, since: start)
                return Response.json(json)
            } catch {
                state.record(
                    .eventStream, "The service account calls \(path)", request: shown,
                    response: "\(error.status) \(error.word): \(error.message)",
                    status: Int(error.status), since: start)
                return error.response
            }
        }
    }
}
