import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import Pages
import StrictJSON

/// The page, and the actions behind its buttons.
struct PageRoutes: Sendable {
    /// Seconds between two reloads of the page in watch mode.
    static let watchInterval = 2
    /// Number of messages on the page. The control API returns all stored messages.
    static let shown = 50

    let state: ReceiverState
    /// Random token that protects the forms against forgery (CSRF).
    let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    func add(to router: Router<ReceiverRequestContext>) {
        router.get("/") { request, _ in await page(isWatching: request.uri.queryParameters["watch"] != nil) }
        router.post("faults") { request, _ in
            let form = try await PageForm(request, token: token)
            let receiver = try ControlRoutes.receiver(form["receiver"] ?? "")
            switch form["action"] {
            case "recover": await state.recover(receiver)
            case "break":
                guard let kind = form["fault"].flatMap({ ReceiverFault.Kind(rawValue: $0) }) else {
                    throw EmulatorError(.memberMalformed, detail: "fault")
                }
                var fault = ReceiverFault(kind)
                if let text = form["seconds"] {
                    guard let seconds = Int64(text), ReceiverFault.delays.contains(seconds) else {
                        throw EmulatorError(
                            .memberMalformed, detail: "seconds: an integer in \(ReceiverFault.delays)")
                    }
                    fault.seconds = seconds
                }
                try state.setFault(fault, of: receiver)
            default: throw EmulatorError(.memberMalformed, detail: "action")
            }
            return Response.seeOther("/")
        }
        router.post("clear") { request, _ in
            _ = try await PageForm(request, token: token)
            state.update { $0.log.clear() }
            return Response.seeOther("/")
        }
    }
}

extension PageRoutes {
    /// Returns the page with both receivers, their faults, and the latest messages, newest first.
    private func page(isWatching: Bool) async -> Response {
        let world = state.update { $0 }
        let status = await world.sender.status()
        return .page("Receivers of events", reloadsAfter: isWatching ? Self.watchInterval : nil) {
            "<h1>Events, as they arrive</h1>"
            """
            <p>Two receivers as a backend has them. They verify each message, and fail when you want it. Tests use \
            the <a href="/control/api">control API</a>.</p>
            <div class="columns">
            """
            for receiver in EmulatedReceiver.allCases {
                section(of: receiver, in: world, status: status[receiver.rawValue])
            }
            "</div>"
            Card(id: "messages") {
                "<div class=\"row bar\"><h2>Messages, newest first</h2>"
                HTML.form(to: "/clear", [("token", token)]) {
                    let watch = isWatching ? ("/", "Stop watching") : ("/?watch=1", "Watch")
                    """
                    <div class="row"><a class="button" href="/">Reload</a>\
                    <a class="button" href="\(watch.0)">\(watch.1)</a>
                    <button>Forget all</button></div>
                    """
                }
                "</div>"
                for message in world.log.messages.suffix(Self.shown).reversed() {
                    details(of: message, isOpen: message.number == world.log.messages.last?.number)
                }
                if world.log.messages.isEmpty {
                    "<p>None yet. Let a user sign in, or stop using the app.</p>"
                }
            }
        }
    }

    /// Returns the section for one receiver: its URL, its status at the service, and its faults.
    private func section(
        of receiver: EmulatedReceiver, in world: ReceiverState.World, status: String?
    ) -> Card {
        let (fault, dropped) = (world.faults[receiver], world.dropped[receiver, default: 0])
        return Card(.text(receiver.title), id: receiver.rawValue) {
            if let url = world.urls[receiver] {
                HTML.table([
                    ("URL", .code(url)), ("verifies", .text(receiver.checks)),
                    (
                        "now",
                        fault.map { .span("bad", "It \($0.words)") }
                            ?? .span("good", "It takes messages")
                    ),
                    ("siwa says", status.map { .text($0) }),
                    ("closed", dropped > 0 ? "\(dropped) connections without an answer" : nil),
                ])
                HTML.form(to: "/faults", [("token", token), ("receiver", receiver.rawValue)]) {
                    faultFields(fault, isSecure: url.hasPrefix("https:"))
                }
            } else {
                """
                <p>Nothing is sent here: security event tokens need OAuth clients, which siwa dev has with a port \
                that is not 0 and two client IDs.</p>
                """
            }
        }
    }

    private func faultFields(_ fault: ReceiverFault?, isSecure: Bool) -> HTML {
        let kinds = ReceiverFault.Kind.allCases.filter { $0 != .wrongCertificate || isSecure }
        let choices = Select("fault", kinds.map { ($0.rawValue, $0.name) }, chosen: fault?.kind.rawValue)
        let delays = ReceiverFault.delays
        let range: HTML = "min=\"\(delays.lowerBound)\" max=\"\(delays.upperBound)\""
        return HTML {
            """
            <div class="row">
            <label>Fault\(choices.html)</label>
            <label class="short">Seconds<input type="number" name="seconds" \(range) \
            value="\((fault ?? ReceiverFault(.slow)).seconds)"></label>
            <button name="action" value="break">Break</button>
            """
            if fault != nil { "<button class=\"main\" name=\"action\" value=\"recover\">Recover</button>" }
            "</div>"
        }
    }

    private func details(of message: ReceivedMessage, isOpen: Bool) -> HTML {
        let (event, number) = (message.event, message.number)
        let verdict: HTML =
            message.refusal.map { .span("bad", "refused as \($0.code.rawValue)") }
            ?? .span("good", "verified")
        let words = ([message.receiver.title] + message.words).joined(separator: " · ")
        let facts: [(name: String, value: String?)] = [
            ("received", RFC3339.text(milliseconds: message.receivedAt)),
            ("refused", message.refusal?.description), ("fault", message.fault?.rawValue),
            ("committed", event?.recordedAt.map { RFC3339.text(milliseconds: $0) }), ("event", event?.id),
            ("user", event?.user), ("type", event?.uri),
        ]
        let summary: HTML = """
            \(number). <b>\(event?.type ?? "no event")</b> \(verdict)<br>\(HTML.span("soft", .text(words)))
            """
        return Details(summary, id: "message-\(number)", isOpen: isOpen) {
            HTML.table(facts.map { ($0.name, $0.value.map { .text($0) }) })
            CodeBlock("Message \(number)", Self.indented(message.content))
        }.html
    }

    /// Formats JSON with one member per line. Returns other text unchanged.
    private static func indented(_ text: String) -> String {
        let json = try? JSONValue(parsing: Array(text.utf8), limits: MessageChecks.limits)
        return json?.indented() ?? text
    }
}

extension EmulatedReceiver {
    fileprivate var checks: String {
        switch self {
        case .webhook: "signature, time, and ID of each message"
        case .push: "type, signature by a published key, iss, aud, iat and jti of each token"
        }
    }
}

extension ReceiverFault.Kind {
    /// Receiver name on the page.
    fileprivate var name: String {
        switch self {
        case .down: "down"
        case .slow: "slow"
        case .hang: "hangs"
        case .error: "status 500"
        case .redirect: "redirect"
        case .hugeBody: "huge answer"
        case .wrongCertificate: "wrong certificate"
        }
    }
}

extension Response {
    static func page(
        _ title: String, _ status: HTTPResponse.Status = .ok, reloadsAfter: Int? = nil,
        @PageBuilder _ content: () -> HTML
    ) -> Response {
        PageDocument(
            title: title, heading: "Receivers of events", content: content(),
            style: PackageResources.style_css
        ).response(status, reloadsAfter: reloadsAfter)
    }

    /// Returns the page that explains why a browser's request was refused.
    static func refusalPage(_ error: EmulatorError) -> Response {
        .page("Not possible", error.code.status) { error.content }
    }
}
