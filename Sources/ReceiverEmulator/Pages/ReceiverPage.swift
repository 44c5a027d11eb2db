import EmulatorServer
import Encodings
import Hummingbird

/// The page: both receivers with their faults, and the latest messages.
struct ReceiverPage {
    /// Seconds between two loads of a page that is watched.
    static let watchInterval = 2

    private let world: ReceiverState.World
    private let status: [String: String]
    private let hasTLS: Bool
    /// Token of the forms (CSRF).
    private let token: String
    private let isWatching: Bool

    init(of state: ReceiverState, token: String, isWatching: Bool) async {
        world = state.update { $0 }
        status = await world.sender.status()
        (hasTLS, self.token, self.isWatching) = (state.hasTLS, token, isWatching)
    }

    var response: Response {
        let sections = EmulatedReceiver.allCases.map { receiver in
            ReceiverSection(
                receiver: receiver, url: world.urls[receiver], status: status[receiver.rawValue],
                fault: world.faults[receiver], dropped: world.dropped[receiver] ?? 0, token: token
            ).html
        }
        return PageFrame(
            title: "Receivers of events",
            content: """
                <h1>Events, as they arrive</h1>
                <p>Two receivers as a backend has them. They verify each message, and fail when you want it.</p>
                <div class="columns">
                \(sections.joined(separator: "\n"))
                </div>
                \(MessagesSection(log: world.log, token: token, isWatching: isWatching).html)
                """, reloadsAfter: isWatching ? Self.watchInterval : nil
        ).response
    }
}

/// One receiver: its URL, what the service says about it, and its faults.
struct ReceiverSection {
    let receiver: EmulatedReceiver
    /// `nil` when the service sends nothing to it.
    let url: String?
    let status: String?
    let fault: ReceiverFault?
    let dropped: Int
    /// Token of the forms (CSRF).
    let token: String

    var html: String {
        guard let url else {
            return """
                <section id="\(receiver.rawValue)"><h2>\(receiver.title)</h2>
                <p>Nothing is sent here: security event tokens need OAuth clients, which siwa dev has with a port \
                that is not 0 and two client IDs.</p></section>
                """
        }
        let now =
            fault.map { "<span class=\"bad\">It \($0.words.htmlEscaped)</span>" }
            ?? "<span class=\"good\">It takes messages</span>"
        var rows = [("URL", "<code>\(url.htmlEscaped)</code>"), ("verifies", checks), ("now", now)]
        if let status { rows.append(("siwa says", status.htmlEscaped)) }
        if dropped > 0 { rows.append(("closed", "\(dropped) connections without an answer")) }
        let recover =
            fault == nil ? "" : "<button class=\"main\" name=\"action\" value=\"recover\">Recover</button>"
        let cells = rows.map { "<tr><th>\($0.0)</th><td>\($0.1)</td></tr>" }
        return """
            <section id="\(receiver.rawValue)"><h2>\(receiver.title)</h2>
            <table>\(cells.joined())</table>
            <form method="post" action="/faults">
            \(HiddenFields.html([("token", token), ("receiver", receiver.rawValue)]))
            <div class="row">
            <label>Fault<select name="fault">\(options(isSecure: url.hasPrefix("https:")))</select></label>
            <label class="short">Seconds<input type="number" name="seconds" \
            min="\(ReceiverFault.delays.lowerBound)" max="\(ReceiverFault.delays.upperBound)" \
            value="\((fault ?? ReceiverFault(.slow)).seconds)"></label>
            <button name="action" value="break">Break</button>
            \(recover)
            </div></form></section>
            """
    }

    private var checks: String {
        switch receiver {
        case .webhook: "signature, time, and ID of each message"
        case .push: "type, signature by a published key, iss, aud, iat and jti of each token"
        }
    }

    private func options(isSecure: Bool) -> String {
        ReceiverFault.Kind.allCases.filter { $0 != .wrongCertificate || isSecure }.map { kind in
            let mark = kind == fault?.kind ? " selected" : ""
            return "<option value=\"\(kind.rawValue)\"\(mark)>\(Self.name(of: kind))</option>"
        }.joined()
    }

    private static func name(of kind: ReceiverFault.Kind) -> String {
        switch kind {
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
