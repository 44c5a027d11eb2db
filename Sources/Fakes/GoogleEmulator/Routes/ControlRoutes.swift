import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import StrictJSON

/// The control API under `/control`, which tests can use without a browser.
struct ControlRoutes: Sendable {
    let state: GoogleState

    private var linking: Linking { Linking(state: state) }

    func add(to api: ControlAPI<BasicRequestContext>) {
        api.control(.get, "", "Shows the project, the client and the redirect URIs.") { overview() }
        addLinks(to: api)
        addEvents(to: api)
        api.control(.get, "exchanges", "Shows the latest requests and responses.") { exchanges() }
        api.control(.delete, "exchanges", "Deletes the shown requests and responses.") {
            state.update { $0.exchanges.clear() }
            return exchanges()
        }
        api.control(.get, "faults", "Shows the faults.") { faults() }
        api.control(.delete, "faults", "Clears all faults.") {
            state.update { $0.faults.clear() }
            return faults()
        }
        api.control(
            .put, "faults/{place}", "Makes one kind of request fail.", example: ["delay_ms": 500, "times": 1]
        ) { input throws(EmulatorError) in
            let place = try Self.place(&input)
            return (place, try input.fault(at: place))
        } use: { place, fault in
            state.setFault(fault, at: place)
            return faults()
        }
        api.control(.delete, "faults/{place}", "Clears the fault of one kind of request.") {
            input throws(EmulatorError) in
            try Self.place(&input)
        } use: { place in
            state.setFault(nil, at: place)
            return faults()
        }
        api.control(.post, "keys/rotate", "Signs with a new key from now on; the old keys stay published.") {
            input throws(EmulatorError) in
            try input.refuseMembers()
        } use: {
            JSONObject([("kid", .string(try state.rotateKey().keyID))])
        }
    }

    private func addLinks(to api: ControlAPI<BasicRequestContext>) {
        api.control(
            .post, "link", "Starts a link in a browser or by App Flip, and returns the URL to open.",
            example: ["mode": "app_flip"]
        ) { input throws(EmulatorError) in
            try input.linkRequest()
        } use: { wanted in
            let start = try linking.begin(wanted)
            return JSONObject([
                ("url", .string(start.url)), ("state", .string(start.begun.state)),
                ("redirect_uri", .string(start.begun.redirectURI)),
            ])
        }
        // Responses to Google's own redirect URIs never reach this emulator, so tests post them here.
        api.control(
            .post, "answer", "Accepts a response at one of Google's own redirect URIs.",
            example: ["url": "REDIRECT_URI?code=CODE&state=STATE"]
        ) { input throws(EmulatorError) in
            try input.required("url", maximum: 16_384)
        } use: { url in
            let place = url.prefix { $0 != "?" }
            let fields = FormEncoding.decode(url.dropFirst(place.count + 1).utf8) ?? []
            return try await linking.receiveResponse(fields, at: String(place)).json
        }
        api.control(.get, "links", "Shows the links, with their tokens.") {
            JSONObject([("links", .array(state.links.map { .object($0.json) }))])
        }
        api.control(.delete, "links", "Deletes all links.") {
            state.update { $0.links.clear() }
            return JSONObject([("links", .array([]))])
        }
        for (name, summary, use) in Self.uses {
            api.control(.post, name, summary) { input throws(EmulatorError) in
                try input.string("link", maximum: 32)
            } use: { id in
                let response = try await use(linking, id)
                var json = response.asJSON
                json["link"] = .object(try linking.link(id).json)
                return json
            }
        }
        api.control(
            .post, "streamlined", "Links by an ID token of Google (streamlined linking).",
            example: ["intent": "get"]
        ) { input throws(EmulatorError) in
            (
                try input.word("intent", StreamlinedIntent.self) ?? .check, try input.account(),
                try input.string("scope", maximum: 2048), try input.string("assertion", maximum: 16_384)
            )
        } use: { intent, account, scope, assertion in
            let (response, link) = try await linking.streamlined(
                intent, account, scope: scope, assertion: assertion)
            var json = response.asJSON
            json["link"] = link.map { .object($0.json) }
            return json
        }
    }

    private typealias Use = @Sendable (Linking, String?) async throws -> ServerClient.Response

    private static let uses: [(name: String, summary: String, use: Use)] = [
        ("refresh", "Refreshes the access token of a link.", { try await $0.refresh($1) }),
        ("call", "Calls the app's API with the token of a link.", { try await $0.call($1) }),
        ("unlink", "Revokes the token of a link.", { try await $0.unlink($1) }),
    ]

    private func addEvents(to api: ControlAPI<BasicRequestContext>) {
        api.control(.post, "service-accounts", "Makes a service account, and returns its JSON key file.") {
            input throws(EmulatorError) in
            (try input.bool("role") ?? true, try input.bool("api") ?? true)
        } use: { hasRole, hasAPI in
            let project = state.configuration.projectID
            let account = try ServiceAccount(project: project, hasRole: hasRole, hasAPI: hasAPI)
            let base = state.update { world in
                world.events.add(account)
                return world.baseURL
            }
            return account.file(project: project, baseURL: base)
        }
        api.control(.get, "stream", "Shows the registered receiver of events.") { stream() }
        api.control(.delete, "stream", "Removes the registered receiver of events.") {
            state.update { $0.events.removeStream() }
            return stream()
        }
        api.control(.get, "events", "Shows the accepted events of the server.") { events() }
        api.control(.delete, "events", "Deletes the accepted events.") {
            state.update { $0.inbox.clear() }
            return events()
        }
        api.control(
            .post, "send-event", "Sends a security event to the server.", example: ["type": "verification"]
        ) { input throws(EmulatorError) in
            var event = SentEvent()
            event.type = try input.word("type", SentEventType.self) ?? .sessionsRevoked
            event.subject = try input.string("sub", maximum: 255)
            event.reason = try input.string("reason", maximum: 64)
            event.state = try input.string("state", maximum: 1024)
            event.jti = try input.string("jti", maximum: 255)
            return (event, try input.string("link", maximum: 32))
        } use: { event, link in
            var sent = event
            if event.type == .tokenRevoked { sent.refreshToken = try linking.link(link).refreshToken }
            return try await linking.send(sent).asJSON
        }
    }

    private static func place(_ input: inout ControlInput) throws(EmulatorError) -> FaultPlace {
        guard let place = FaultPlace(rawValue: input.path("place", FaultPlace.self)) else {
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
}

extension ControlAPI<BasicRequestContext> {
    fileprivate func control<Value: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, example: JSONValue? = nil,
        reading read: @escaping @Sendable (inout ControlInput) throws(EmulatorError) -> Value,
        use respond: @escaping @Sendable (Value) async throws -> JSONObject
    ) {
        add(method, path, summary, example: example, reading: read) { _, value in
            .json(try await respond(value))
        }
    }

    /// Adds a call without parameters and members.
    fileprivate func control(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String,
        use respond: @escaping @Sendable () async throws -> JSONObject
    ) {
        control(method, path, summary) { _ in
        } use: { _ in
            try await respond()
        }
    }
}

extension ControlInput {
    mutating func linkRequest() throws(EmulatorError) -> LinkRequest {
        var request = LinkRequest()
        request.mode = try word("mode", AccountLink.Mode.self, among: [.browser, .appFlip]) ?? .browser
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
