import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import StrictJSON

/// The control API under `/control`, which tests can use without a browser.
struct ControlRoutes: Sendable {
    let state: GoogleState

    private var linking: Linking { Linking(state: state) }

    func add(to group: RouterGroup<BasicRequestContext>) {
        on(group, .get, "") { _ in overview() }
        addLinks(to: group)
        addEvents(to: group)
        on(group, .get, "exchanges") { _ in exchanges() }
        on(group, .delete, "exchanges") { _ in
            state.update { $0.exchanges.clear() }
            return exchanges()
        }
        on(group, .get, "faults") { _ in faults() }
        on(group, .delete, "faults") { _ in
            state.update { $0.faults.clear() }
            return faults()
        }
        on(group, .put, "faults/:place") { call in
            let place = try place(call.pathPart("place"))
            let fault = try call.input { body throws(EmulatorError) in try body.fault(at: place) }
            state.setFault(fault, at: place)
            return faults()
        }
        on(group, .delete, "faults/:place") { call in
            state.setFault(nil, at: try place(call.pathPart("place")))
            return faults()
        }
        on(group, .post, "keys/rotate") { call in
            try call.requireNoInput()
            return JSONObject([("kid", .string(try state.rotateKey().keyID))])
        }
    }

    private func addLinks(to group: RouterGroup<BasicRequestContext>) {
        on(group, .post, "link") { call in
            let start = try linking.begin(
                call.input { body throws(EmulatorError) in try body.linkRequest() })
            return JSONObject([
                ("url", .string(start.url)), ("state", .string(start.begun.state)),
                ("redirect_uri", .string(start.begun.redirectURI)),
            ])
        }
        // Responses to Google's own redirect URIs never reach this emulator, so tests post them here.
        on(group, .post, "answer") { call in
            let url = try call.input { body throws(EmulatorError) in
                try body.required("url", maximum: 16_384)
            }
            let place = url.prefix { $0 != "?" }
            let fields = FormEncoding.decode(url.dropFirst(place.count + 1).utf8) ?? []
            return try await linking.receiveResponse(fields, at: String(place)).json
        }
        on(group, .get, "links") { _ in
            JSONObject([("links", .array(state.links.map { .object($0.json) }))])
        }
        on(group, .delete, "links") { _ in
            state.update { $0.links.clear() }
            return JSONObject([("links", .array([]))])
        }
        for (name, use) in Self.uses {
            on(group, .post, RouterPath(name)) { call in
                let id = try call.input { body throws(EmulatorError) in
                    try body.string("link", maximum: 32)
                }
                let response = try await use(linking, id)
                var json = response.asJSON
                json["link"] = .object(try linking.link(id).json)
                return json
            }
        }
        on(group, .post, "streamlined") { call in
            let input = try call.input { body throws(EmulatorError) in
                (
                    try body.word("intent", StreamlinedIntent.self) ?? .check, try body.account(),
                    try body.string("scope", maximum: 2048), try body.string("assertion", maximum: 16_384)
                )
            }
            let (response, link) = try await linking.streamlined(
                input.0, input.1, scope: input.2, assertion: input.3)
            var json = response.asJSON
            json["link"] = link.map { .object($0.json) }
            return json
        }
    }

    private static let uses: [(String, @Sendable (Linking, String?) async throws -> ServerClient.Response)] =
        [
            ("refresh", { try await $0.refresh($1) }), ("call", { try await $0.call($1) }),
            ("unlink", { try await $0.unlink($1) }),
        ]

    private func addEvents(to group: RouterGroup<BasicRequestContext>) {
        on(group, .post, "service-accounts") { call in
            let (role, api) = try call.input { body throws(EmulatorError) in
                (try body.bool("role") ?? true, try body.bool("api") ?? true)
            }
            let project = state.configuration.projectID
            let account = try ServiceAccount(project: project, hasRole: role, hasAPI: api)
            let base = state.update { world in
                world.events.add(account)
                return world.baseURL
            }
            return account.file(project: project, baseURL: base)
        }
        on(group, .get, "stream") { _ in stream() }
        on(group, .delete, "stream") { _ in
            state.update { $0.events.removeStream() }
            return stream()
        }
        on(group, .get, "events") { _ in events() }
        on(group, .delete, "events") { _ in
            state.update { $0.inbox.clear() }
            return events()
        }
        on(group, .post, "send-event") { call in
            let (event, link) = try call.input { body throws(EmulatorError) in
                var event = SentEvent()
                event.type = try body.word("type", SentEventType.self) ?? .sessionsRevoked
                event.subject = try body.string("sub", maximum: 255)
                event.reason = try body.string("reason", maximum: 64)
                event.state = try body.string("state", maximum: 1024)
                event.jti = try body.string("jti", maximum: 255)
                return (event, try body.string("link", maximum: 32))
            }
            var sent = event
            if event.type == .tokenRevoked { sent.refreshToken = try linking.link(link).refreshToken }
            return try await linking.send(sent).asJSON
        }
    }

    private func place(_ name: String) throws(EmulatorError) -> FaultPlace {
        guard let place = FaultPlace(rawValue: name) else {
            let names = FaultPlace.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.memberMalformed, detail: "the place must be one of \(names)")
        }
        return place
    }

    private func overview() -> JSONObject {
        let configuration = state.configuration
        var json = JSONObject([
            ("project_id", .string(configuration.projectID)), ("client_id", .string(configuration.clientID)),
            ("google_client_id", .string(configuration.googleClientID)),
            ("redirect_uris", .array(state.redirectURIs.map { .string($0) })),
        ])
        json["issuer"] = (try? state.server()).map { .string($0.issuer) }
        return json
    }

    private func events() -> JSONObject {
        JSONObject([("events", .array(state.receivedEvents.map { .object($0.json) }))])
    }

    /// Returns the registered receiver; empty if there is none.
    private func stream() -> JSONObject {
        var json = JSONObject()
        guard let stream = state.update({ $0.events.stream }) else { return json }
        json["url"] = .string(stream.url)
        json["events_requested"] = .array(stream.events.map { .string($0) })
        json["status"] = .string(stream.isEnabled ? "enabled" : "disabled")
        return json
    }

    private func faults() -> JSONObject { state.update { $0.faults.json } }

    private func exchanges() -> JSONObject {
        let entries = state.exchanges.map { exchange in
            JSONValue.object(
                JSONObject([
                    ("number", .integer(Int64(exchange.number))),
                    ("at", .string(RFC3339.text(milliseconds: exchange.at))),
                    ("title", .string(exchange.title)), ("request", .string(exchange.request)),
                    ("answer", .string(exchange.response)),
                    ("from", .string(exchange.step.from.rawValue)),
                    ("to", .string(exchange.step.to.rawValue)),
                    ("standard", .string(exchange.step.standard)),
                ]))
        }
        return JSONObject([("exchanges", .array(entries))])
    }

    private func on(
        _ group: RouterGroup<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: RouterPath,
        _ respond: @escaping @Sendable (ControlRequest) async throws -> JSONObject
    ) {
        group.on(path, method: method) { request, context in
            try await Response.json(respond(ControlRequest(request, context)))
        }
    }
}

extension ControlInput {
    mutating func linkRequest() throws(EmulatorError) -> LinkRequest {
        var request = LinkRequest()
        request.mode = try word("mode", AccountLink.Mode.self) ?? .browser
        guard request.mode != .streamlined else {
            throw EmulatorError(
                .memberMalformed, detail: "mode: browser or app_flip; see control/streamlined")
        }
        request.scope = try string("scope", maximum: 2048)
        request.userLocale = try string("user_locale", maximum: 64)
        request.loginHint = try string("login_hint", maximum: 320)
        request.usesPKCE = try bool("pkce") ?? true
        request.redirectURI = try string("redirect_uri", maximum: 2048)
        return request
    }

    mutating func account() throws(EmulatorError) -> GoogleAccount {
        var account = GoogleAccount()
        if let subject = try string("sub", maximum: 255) { account.subject = subject }
        if let email = try string("email", maximum: 320) { account.email = email }
        if let isVerified = try bool("email_verified") { account.isEmailVerified = isVerified }
        account.hostedDomain = try string("hd", maximum: 255)
        return account
    }

    mutating func fault(at place: FaultPlace) throws(EmulatorError) -> GoogleFault {
        var fault = GoogleFault()
        fault.delayMilliseconds = try integer("delay_ms", in: 0...GoogleFault.maximumDelay) ?? 0
        fault.status = try integer("status", in: 200...599).map { Int($0) }
        fault.loss = try word("lose", GoogleFault.Loss.self)
        fault.remainingRequests = try integer("times", in: 1...1_000_000).map { Int($0) }
        guard place == .token ? fault.status == nil : fault.loss == nil else {
            throw EmulatorError(
                .memberMalformed, detail: "status is for Google's own endpoints, lose is for token")
        }
        return fault
    }
}
