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
        api.add(.get, "", "Shows the project, the client and the redirect URIs.") { overview() }
        addLinks(to: api)
        addEvents(to: api)
        api.add(.get, "exchanges", "Shows the latest requests and responses.") { exchanges() }
        api.add(.delete, "exchanges", "Deletes the shown requests and responses.") {
            state.update { $0.exchanges.clear() }
            return exchanges()
        }
        api.add(.get, "faults", "Shows the faults.") { faults() }
        api.add(.delete, "faults", "Clears all faults.") {
            state.update { $0.faults.clear() }
            return faults()
        }
        api.add(
            .put, "faults/{place}", "Makes one kind of request fail.", example: ["delay_ms": 500, "times": 1]
        ) { input throws(EmulatorError) in
            let place = try Self.place(&input)
            return (place, try input.fault(at: place))
        } use: { place, fault in
            state.setFault(fault, at: place)
            return faults()
        }
        api.add(.delete, "faults/{place}", "Clears the fault of one kind of request.") {
            input throws(EmulatorError) in
            try Self.place(&input)
        } use: { place in
            state.setFault(nil, at: place)
            return faults()
        }
        api.add(.post, "keys/rotate", "Signs with a new key from now on; the old keys stay published.") {
            input throws(EmulatorError) in
            try input.refuseMembers()
        } use: {
            ControlResponse(RotatedKey(keyID: try state.rotateKey().keyID))
        }
    }

    private func addLinks(to api: ControlAPI<BasicRequestContext>) {
        api.add(
            .post, "link", "Starts a link in a browser or by App Flip, and returns the URL to open.",
            example: ["mode": "app_flip"]
        ) { input throws(EmulatorError) in
            try input.linkRequest()
        } use: { wanted in
            ControlResponse(try linking.begin(wanted))
        }
        // Responses to Google's own redirect URIs never reach this emulator, so tests post them here.
        api.add(
            .post, "answer", "Accepts a response at one of Google's own redirect URIs.",
            example: ["url": "REDIRECT_URI?code=CODE&state=STATE"]
        ) { input throws(EmulatorError) in
            try input.required("url", maximum: 16_384)
        } use: { url in
            let place = url.prefix { $0 != "?" }
            let fields = FormEncoding.decode(url.dropFirst(place.count + 1).utf8) ?? []
            return ControlResponse(try await linking.receiveResponse(fields, at: String(place)))
        }
        api.add(.get, "links", "Shows the links, with their tokens.") {
            ControlResponse(LinkList(links: state.links))
        }
        api.add(.delete, "links", "Deletes all links.") {
            state.update { $0.links.clear() }
            return ControlResponse(LinkList(links: []))
        }
        for action in LinkAction.all {
            api.add(.post, action.name, action.summary) { input throws(EmulatorError) in
                try input.string("link", maximum: 32)
            } use: { id in
                let response = try await action.carryOut(linking, id)
                return ControlResponse(LinkUse(response: response, link: try linking.link(id)))
            }
        }
        api.add(
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
            return ControlResponse(LinkUse(response: response, link: link))
        }
    }

    private func addEvents(to api: ControlAPI<BasicRequestContext>) {
        api.add(.post, "service-accounts", "Makes a service account, and returns its JSON key file.") {
            input throws(EmulatorError) in
            (try input.bool("role") ?? true, try input.bool("api") ?? true)
        } use: { hasRole, hasAPI in
            let project = state.configuration.projectID
            let account = try ServiceAccount(project: project, hasRole: hasRole, hasAPI: hasAPI)
            let base = state.update { world in
                world.events.add(account)
                return world.baseURL
            }
            return ControlResponse(account.file(project: project, baseURL: base))
        }
        api.add(.get, "stream", "Shows the registered receiver of events.") { stream() }
        api.add(.delete, "stream", "Removes the registered receiver of events.") {
            state.update { $0.events.removeStream() }
            return stream()
        }
        api.add(.get, "events", "Shows the accepted events of the server.") { events() }
        api.add(.delete, "events", "Deletes the accepted events.") {
            state.update { $0.inbox.clear() }
            return events()
        }
        api.add(
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
            return ControlResponse(try await linking.send(sent))
        }
    }

    private static func place(_ input: inout ControlInput) throws(EmulatorError) -> FaultPlace {
        guard let place = FaultPlace(rawValue: input.path("place", FaultPlace.self)) else {
            let names = FaultPlace.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.memberMalformed, detail: "the place must be one of \(names)")
        }
        return place
    }

    private func overview() -> ControlResponse<GoogleOverview> {
        ControlResponse(
            GoogleOverview(
                configuration: state.configuration, redirectURIs: state.redirectURIs,
                issuer: try? state.server().issuer))
    }

    private func events() -> ControlResponse<EventList> {
        ControlResponse(EventList(events: state.receivedEvents))
    }

    private func stream() -> ControlResponse<RegisteredReceiver> {
        ControlResponse(RegisteredReceiver(stream: state.update { $0.events.stream }))
    }

    private func faults() -> ControlResponse<MembersByWord<FaultPlace, GoogleFault>> {
        ControlResponse(MembersByWord(state.update { $0.faults.faults }))
    }

    private func exchanges() -> ControlResponse<ExchangeList> {
        ControlResponse(ExchangeList(exchanges: state.exchanges))
    }
}

private struct GoogleOverview: JSONBody {
    let configuration: GoogleEmulatorConfiguration
    let redirectURIs: [String]
    let issuer: String?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("project_id") { $0.configuration.projectID }
        member("client_id", "The client ID at the authorization server.") { $0.configuration.clientID }
        member("google_client_id", "The aud of Google's own tokens.") { $0.configuration.googleClientID }
        member("redirect_uris", "The redirect URIs to register.") { $0.redirectURIs }
        member("issuer", "The authorization server; absent until it is known.") { $0.issuer }
    }
}

extension LinkStart: JSONBody {
    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("url", "The URL to open.") { $0.url }
        member("state") { $0.begun.state }
        member("redirect_uri") { $0.begun.redirectURI }
    }
}

private struct LinkList: JSONBody {
    let links: [AccountLink]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("links") { $0.links }
    }
}

private struct LinkUse: JSONBody {
    let response: ServerClient.Response
    let link: AccountLink?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member.inline { $0.response }
        member("link", "The link afterwards; absent if there is none.") { $0.link }
    }
}

private struct EventList: JSONBody {
    let events: [ReceivedEvent]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("events") { $0.events }
    }
}

/// The registered receiver of events; an object without members if there is none.
private struct RegisteredReceiver: JSONBody {
    let stream: EventStreamBook.Stream?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("url") { $0.stream?.url }
        member("events_requested", "The URIs of the events.") { $0.stream?.events }
        member("status", ["enum": ["enabled", "disabled"]]) {
            $0.stream.map { $0.isEnabled ? "enabled" : "disabled" }
        }
    }
}

private struct ExchangeList: JSONBody {
    let exchanges: [Exchange]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("exchanges") { $0.exchanges }
    }
}

private struct RotatedKey: JSONBody {
    let keyID: String

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("kid") { $0.keyID }
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
