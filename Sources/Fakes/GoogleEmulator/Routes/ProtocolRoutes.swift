import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// Google's endpoints: its keys, its configuration, event reports, and the redirect URIs.
struct ProtocolRoutes: Sendable {
    let state: GoogleState

    func add(to router: Router<BasicRequestContext>) {
        router.get("oauth2/v3/certs") { _, _ in
            await document(.certs, .googleKeys, "Google's keys are fetched") { GoogleKey.document($0.keys) }
        }
        router.get(".well-known/risc-configuration") { _, _ in
            let title = "Google's configuration for events is fetched"
            return await document(.riscConfiguration, .googleMetadata, title) { world in
                JSONObject([
                    ("issuer", .string(SentEvent.issuer)),
                    ("jwks_uri", .string("\(world.baseURL)/oauth2/v3/certs")),
                ])
            }
        }
        router.post("v1beta/events:report") { request, _ in try await report(request) }
    }

    private func document(
        _ place: FaultPlace, _ step: ExchangeStep, _ title: String,
        _ make: (GoogleState.World) -> JSONObject
    ) async -> Response {
        let start = state.exchangeStart
        if let refusal = await faulty(place, step, title) { return refusal }
        let json = state.update { make($0) }
        state.record(
            step, title, request: "GET \(place.rawValue)", response: "200", status: 200, since: start)
        return Response.json(json)
    }

    private func report(_ request: Request) async throws -> Response {
        let start = state.exchangeStart
        let body = try await request.body.collect(upTo: EventReport.longestToken)
        let token = String(buffer: body)
        let shown = "POST /v1beta/events:report\n\(ShownText.token(token) ?? "no token")"
        if let refusal = await faulty(.report, .reportedEvent, "The server reports an event", shown) {
            return refusal
        }
        do throws(EventReportRefusal) {
            let isToken = request.headers[.contentType]?.hasPrefix("application/secevent+jwt") ?? false
            guard isToken else { throw .malformed }
            let event = try await EventReport(state: state).receive(token)
            state.record(
                .reportedEvent, "The server reports that a token has ended", request: shown,
                response: event.linkID.map { "202; link \($0) has ended" }
                    ?? "202; the token is not known here", status: 202, since: start)
            return Response(status: .accepted)
        } catch {
            state.record(
                .reportedEvent, "The server reports an event that Google refuses", request: shown,
                response: "400 \(error.rawValue)", status: 400, since: start)
            return Response.json(
                JSONObject([
                    ("err", .string(error.rawValue)), ("description", .string("the token is refused")),
                ]), status: .badRequest)
        }
    }

    /// Waits for a fault's delay. Returns the fault's response; `nil` if the endpoint responds as usual.
    private func faulty(
        _ place: FaultPlace, _ step: ExchangeStep, _ title: String, _ request: String = ""
    ) async -> Response? {
        let start = state.exchangeStart
        guard let fault = state.update({ $0.faults.take(place) }) else { return nil }
        if fault.delayMilliseconds > 0 { await state.wait(fault.delayMilliseconds) }
        guard let status = fault.status else { return nil }
        state.record(
            step, title, request: request, response: "\(status), because of a fault", status: status,
            since: start)
        return Response(status: .init(code: status))
    }
}
