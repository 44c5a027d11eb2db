import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import JOSE
import NIOCore
import StrictJSON

/// Google's RISC API, where the receiver of Google's events is registered. It shares no token-checking code
/// with the signer.
struct EventStreamAPI: Sendable {
    static let audience = "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService"
    static let pushDelivery = "https://schemas.openid.net/secevent/risc/delivery-method/push"
    /// Maximum length of a URL or a state, in bytes.
    private static let longestText = 2048

    let state: GoogleState

    /// Checks a service account's self-signed token (RFC 7523, without a token endpoint).
    ///
    /// - Parameter field: The `Authorization` header.
    func authorize(_ field: String?) throws(EventStreamRefusal) {
        let scheme = "Bearer "
        guard let field, field.hasPrefix(scheme), field.utf8.count <= 8192,
            let segments = JWSSegments(compact: String(field.dropFirst(scheme.count))),
            let header = try? JSONValue(parsing: segments.header), header["alg"]?.string == "RS256",
            let keyID = header["kid"]?.string, let claims = try? JSONValue(parsing: segments.payload),
            let account = state.update({ world in world.events.accounts.first { $0.keyID == keyID } }),
            account.isValidSignature(of: segments), claims["iss"]?.string == account.email,
            claims["sub"]?.string == account.email, claims["aud"]?.string == Self.audience,
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer,
            // Google accepts a token lifetime of at most one hour.
            issuedAt <= state.now + 60, expiresAt > state.now, expiresAt - issuedAt <= 3600
        else { throw .tokenRefused }
        guard account.hasAPI else { throw .apiDisabled }
        guard account.hasRole else { throw .roleMissing }
    }

    /// Handles `POST /v1beta/stream:update`.
    func update(_ body: [UInt8]) throws(EventStreamRefusal) -> JSONObject {
        let json = try object(body)
        guard let delivery = json["delivery"], delivery["delivery_method"]?.string == Self.pushDelivery,
            let url = delivery["url"]?.string, url.utf8.count <= Self.longestText
        else { throw .argument("Invalid delivery.") }
        guard isAuthorized(url) else {
            throw .argument("The delivery URL must be on an authorized domain of the project.")
        }
        let known = SentEventType.allCases.map(\.uri)
        guard let events = json["events_requested"]?.array?.compactMap(\.string), !events.isEmpty,
            events.allSatisfy(known.contains), Set(events).count == events.count
        else { throw .argument("Invalid events_requested.") }
        state.update { $0.events.register(url: url, events: events) }
        return JSONObject()
    }

    /// Handles `GET /v1beta/stream`.
    func stream() throws(EventStreamRefusal) -> JSONObject {
        let stream = try registered()
        let delivery = JSONObject([
            ("delivery_method", .string(Self.pushDelivery)), ("url", .string(stream.url)),
        ])
        let events = JSONValue.array(stream.events.map { .string($0) })
        return JSONObject([
            ("iss", .string(SentEvent.issuer)),
            ("aud", .array([.string(state.configuration.googleClientID)])),
            ("delivery", .object(delivery)), ("events_requested", events), ("events_delivered", events),
        ])
    }

    /// Handles `GET /v1beta/stream/status`.
    func status() throws(EventStreamRefusal) -> JSONObject {
        JSONObject([("status", .string(try registered().isEnabled ? "enabled" : "disabled"))])
    }

    /// Handles `POST /v1beta/stream/status:update`.
    func setStatus(_ body: [UInt8]) throws(EventStreamRefusal) -> JSONObject {
        let word = try object(body)["status"]?.string
        guard word == "enabled" || word == "disabled" else { throw .argument("Invalid status.") }
        guard state.update({ $0.events.setStatus(isEnabled: word == "enabled") }) else {
            throw .streamMissing
        }
        return JSONObject([("status", .string(word ?? ""))])
    }

    /// Handles `POST /v1beta/stream:verify`: sends the test event before it responds, although Google
    /// responds first.
    func verify(_ body: [UInt8]) async throws(EventStreamRefusal) -> JSONObject {
        guard let text = try object(body)["state"]?.string, text.utf8.count <= Self.longestText else {
            throw .argument("Invalid state.")
        }
        guard try registered().isEnabled else { throw .argument("The stream is disabled.") }
        var event = SentEvent()
        (event.type, event.state) = (.verification, text)
        // As at Google, the response does not reveal whether the delivery succeeded.
        _ = try? await Linking(state: state).send(event)
        return JSONObject()
    }

    private func registered() throws(EventStreamRefusal) -> EventStreamBook.Stream {
        guard let stream = state.update({ $0.events.stream }) else { throw .streamMissing }
        return stream
    }

    private func object(_ body: [UInt8]) throws(EventStreamRefusal) -> JSONValue {
        guard let json = try? JSONValue(parsing: body), json.object != nil else {
            throw .argument("Invalid JSON payload received.")
        }
        return json
    }

    /// Returns `true` for an address on the linked server, whose domain counts as the authorized domain here.
    /// Google accepts only https; the emulator also accepts http on this machine.
    private func isAuthorized(_ url: String) -> Bool {
        guard let address = WebAddress(url), address.isSecure || address.isLoopback,
            let server = state.update({ $0.server })
        else { return false }
        return [server.issuer, server.securityEventsURL].contains { WebAddress($0)?.host == address.host }
    }
}

/// An error from Google's APIs (`google.rpc.Status`).
struct EventStreamRefusal: Error, Equatable {
    let status: Int
    /// Code name from `google.rpc.Code`.
    let word: String
    let message: String
    /// Value of `reason` in `google.rpc.ErrorInfo`.
    var reason: String?

    static let tokenRefused = EventStreamRefusal(
        status: 401, word: "UNAUTHENTICATED",
        message:
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
            + "or other valid authentication credential.")
    static let apiDisabled = EventStreamRefusal(
        status: 403, word: "PERMISSION_DENIED",
        message: "RISC API has not been used in this project before or it is disabled.",
        reason: "SERVICE_DISABLED")
    static let roleMissing = EventStreamRefusal(
        status: 403, word: "PERMISSION_DENIED", message: "The caller does not have permission")
    static let streamMissing = EventStreamRefusal(
        status: 404, word: "NOT_FOUND", message: "Requested entity was not found.")

    static func argument(_ message: String) -> EventStreamRefusal {
        EventStreamRefusal(status: 400, word: "INVALID_ARGUMENT", message: message)
    }

    /// Returns the error that a fault causes.
    static func fault(_ status: Int) -> EventStreamRefusal {
        switch status {
        case 401: .tokenRefused
        case 403: .roleMissing
        case 404: .streamMissing
        case 429:
            EventStreamRefusal(status: 429, word: "RESOURCE_EXHAUSTED", message: "Quota exceeded.")
        default:
            EventStreamRefusal(status: status, word: "INTERNAL", message: "Internal error encountered.")
        }
    }

    var response: Response {
        var error = JSONObject([
            ("code", .integer(Int64(status))), ("message", .string(message)), ("status", .string(word)),
        ])
        if let reason {
            let info = JSONObject([
                ("@type", .string("type.googleapis.com/google.rpc.ErrorInfo")), ("reason", .string(reason)),
                ("domain", .string("googleapis.com")),
            ])
            error["details"] = .array([.object(info)])
        }
        return .json(JSONObject([("error", .object(error))]), status: .init(code: status))
    }
}

/// Routes for Google's RISC API.
struct EventStreamRoutes: Sendable {
    /// Maximum body size in bytes.
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
            // The record omits the token, because it stays valid for an hour.
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
