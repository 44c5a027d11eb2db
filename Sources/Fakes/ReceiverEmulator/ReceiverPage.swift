import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import StrictJSON

/// The page: both receivers with their faults, and the latest messages, newest first.
struct ReceiverPage {
    /// Seconds between two loads of a page that is watched.
    static let watchInterval = 2
    /// Number of messages on the page. The control API shows all that are kept.
    static let shown = 50

    private let receivers: [ReceiverEntry]
    private let messages: [MessageEntry]
    private let token: String
    private let isWatching: Bool

    /// - Parameter token: Token of the forms (CSRF).
    init(of state: ReceiverState, token: String, isWatching: Bool) async {
        let world = state.update { $0 }
        let status = await world.sender.status()
        receivers = EmulatedReceiver.allCases.map { receiver in
            ReceiverEntry(receiver, in: world, status: status[receiver.rawValue])
        }
        messages = world.log.messages.suffix(Self.shown).reversed().map { MessageEntry($0) }
        (self.token, self.isWatching) = (token, isWatching)
    }

    var response: Response {
        PageFrame(
            title: "Receivers of events", template: "receivers", values: self,
            reloadsAfter: isWatching ? Self.watchInterval : nil
        ).response
    }
}

/// One receiver on the page: its URL, what the service says about it, and its faults.
struct ReceiverEntry {
    private struct Option {
        let kind: String
        let name: String
        let isChosen: Bool
    }

    private let id: String
    private let title: String
    /// `nil` when the service sends nothing to it.
    private let url: String?
    private let checks: String
    private let status: String?
    private let fault: String?
    /// Connections without an answer; `nil` for none.
    private let dropped: Int?
    private let options: [Option]
    private let seconds: Int64
    private let shortest = ReceiverFault.delays.lowerBound
    private let longest = ReceiverFault.delays.upperBound

    init(_ receiver: EmulatedReceiver, in world: ReceiverState.World, status: String?) {
        (id, title, self.status) = (receiver.rawValue, receiver.title, status)
        (url, checks) = (world.urls[receiver], Self.checks(of: receiver))
        let fault = world.faults[receiver]
        (self.fault, seconds) = (fault?.words, (fault ?? ReceiverFault(.slow)).seconds)
        dropped = world.dropped[receiver].flatMap { $0 > 0 ? $0 : nil }
        let isSecure = url?.hasPrefix("https:") == true
        options = ReceiverFault.Kind.allCases.filter { $0 != .wrongCertificate || isSecure }.map { kind in
            Option(kind: kind.rawValue, name: kind.name, isChosen: kind == fault?.kind)
        }
    }

    private static func checks(of receiver: EmulatedReceiver) -> String {
        switch receiver {
        case .webhook: "signature, time, and ID of each message"
        case .push: "type, signature by a published key, iss, aud, iat and jti of each token"
        }
    }
}

extension ReceiverFault.Kind {
    /// Name on a page.
    public var name: String {
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

/// A message on the page.
struct MessageEntry {
    private let number: Int
    private let type: String
    private let refusal: String?
    private let words: String
    private let rows: [PageField]
    private let content: String

    init(_ message: ReceivedMessage) {
        (number, type) = (message.number, message.event?.type ?? "no event")
        refusal = message.refusal?.code.rawValue
        words = ([message.receiver.title] + message.words).joined(separator: " · ")
        (rows, content) = (Self.rows(of: message), Self.indented(message.content))
    }

    private static func rows(of message: ReceivedMessage) -> [PageField] {
        var rows = [PageField("received", RFC3339.text(milliseconds: message.receivedAt))]
        if let refusal = message.refusal { rows.append(PageField("refused", refusal.description)) }
        if let fault = message.fault { rows.append(PageField("fault", fault.rawValue)) }
        guard let event = message.event else { return rows }
        if let time = event.recordedAt {
            rows.append(PageField("committed", RFC3339.text(milliseconds: time)))
        }
        rows.append(PageField("event", event.id))
        if let user = event.user { rows.append(PageField("user", user)) }
        if let uri = event.uri { rows.append(PageField("type", uri)) }
        return rows
    }

    /// Formats JSON with one member per line. Returns another text as it is.
    static func indented(_ text: String) -> String {
        guard let json = try? JSONValue(parsing: Array(text.utf8), limits: MessageChecks.limits) else {
            return text
        }
        return json.indented()
    }
}

/// The common parts of all pages: style and headers.
struct PageFrame {
    let title: String
    /// The name of the template.
    let template: String
    /// The values of the template, which are escaped.
    let values: Any
    var status = HTTPResponse.Status.ok
    /// Seconds after which the browser loads the page again.
    var reloadsAfter: Int?

    var response: Response {
        let document = PageDocument(
            title: title, heading: "Receivers of events", content: Self.library.render(template, values),
            style: PackageResources.style_css, formTargets: "'self'")
        var headers = HTTPFields()
        if let name = HTTPField.Name("Content-Security-Policy") { headers[name] = document.policy }
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        // With `no-referrer`, browsers would send `Origin: null` with the page's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        // The page has no script.
        if let reloadsAfter, let name = HTTPField.Name("Refresh") { headers[name] = "\(reloadsAfter)" }
        return .uncached(status, "text/html; charset=utf-8", Array(document.html.utf8), headers: headers)
    }

    private static let library = PageLibrary([
        "messages": PackageResources.messages_mustache, "receivers": PackageResources.receivers_mustache,
    ])
}

/// The page of a refused request of a browser.
struct ErrorPage {
    let error: EmulatorError

    var response: Response {
        PageFrame(
            title: "Not possible", template: "refusal",
            values: ["code": "\(error.code.name)", "detail": error.detail], status: error.code.status
        ).response
    }
}
