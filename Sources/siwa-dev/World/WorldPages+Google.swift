import AppleAccounts
import Console
import Encodings
import GoogleEmulator
import Pages

extension WorldPages {
    private static let path = Place.google.rawValue

    var googlePages: [ConsolePage] {
        [
            ConsolePage(.get, Self.path, access: .development, handle: google),
            ConsolePage(.post, Self.path, access: .development) { request in
                guard let use = WorldLinkUse(rawValue: request.form["use"] ?? ""),
                    let link = request.form["link"]
                else { return .refused("This is no use of a link.") }
                return try await Self.act(then: Self.path) { try await world.carryOut(use, of: link) }
            },
        ]
    }

    private func google(_ request: ConsoleRequest) -> ConsoleAnswer {
        Self.page("Google", at: .google, isLive: true) {
            """
            <p>The links of the fake Google with what it holds for each, and the reports that it has taken. Its \
            requests are in the <a href="/console/world/exchanges">exchanges</a>, its keys in \
            <a href="/console/world/keys">Keys and clock</a>. Times are UTC.</p>
            """
            if let state = world.google?.state {
                Card("Links") { Self.table(state.links.reversed(), request) }
                Card("Reports of siwa") {
                    Table(
                        "Reports of siwa", ["Time", "Event", "Link", .number("Deliveries")],
                        state.receivedEvents.reversed(),
                        ifEmpty: "None yet. siwa reports each token of Google's that ends."
                    ) { event in
                        [
                            .text(RFC3339.text(milliseconds: event.issuedAt * 1000)), .code(event.type),
                            event.linkID.map { .text($0) } ?? .muted("unknown token"), "\(event.deliveries)",
                        ]
                    }
                }
            } else {
                """
                <p class="empty">Google's client is not configured: it needs a port that is not 0, and two client \
                IDs.</p>
                """
            }
        }
    }

    private static func table(_ links: [AccountLink], _ request: ConsoleRequest) -> Table {
        Table(
            "Links",
            [
                .head("Link"), "State", .any("Account"), .any("Scope"), "Access token", "Refresh token",
                "Actions",
            ], links, ifEmpty: "None yet. Link a <a href=\"/console/world\">person</a> with Google."
        ) { link in
            let account = link.account.flatMap { AccountID($0)?.rawValue }
            let uses = HTML {
                for use in link.uses {
                    PostForm(to: path, request, [("link", link.id)]) {
                        button(
                            use.title, use == .unlink ? "danger" : "quiet", sends: ("use", use.rawValue),
                            unseen: ", link \(link.id)")
                    }
                }
            }
            return [
                "\(link.id) \(HTML.muted(link.mode.rawValue.replacing("_", with: " ")))", link.state,
                account.map { .link(.text($0), to: "/console/people/\($0)") }
                    ?? .muted("not known to Google"),
                "\(link.scope)", .text(link.accessTokenState(at: request.now)),
                link.refreshToken == nil ? "none" : "held", uses,
            ]
        }
    }
}

/// One way in which the fake Google uses a link. The raw value is the button's value.
enum WorldLinkUse: String, CaseIterable {
    /// The fake Google gets a new access token.
    case refresh
    /// The fake Google calls the app's API, which checks the access token by introspection.
    case call
    /// The user unlinks in the Google app.
    case unlink

    var title: String {
        switch self {
        case .refresh: "Refresh"
        case .call: "Use the access token"
        case .unlink: "Unlink at Google"
        }
    }
}

extension AccountLink {
    fileprivate var state: HTML {
        var word = status.word
        if case .failed(let error) = status { word += ": \(error)" }
        return .span(status == .linked ? "good" : "warn", .text(word.replacing("_", with: " ")))
    }

    fileprivate func accessTokenState(at now: Moment) -> String {
        guard let end = expiresAt.map({ $0 * 1000 }) else { return "none" }
        let answer = isActive.map { $0 ? ", siwa said good" : ", siwa said not good" } ?? ""
        return "\(end > now.milliseconds ? "until" : "over since") \(SequenceDiagram.time(end))\(answer)"
    }

    fileprivate var uses: [WorldLinkUse] {
        WorldLinkUse.allCases.filter { use in
            switch use {
            case .refresh: refreshToken != nil
            case .call: expiresAt != nil
            case .unlink: status == .linked
            }
        }
    }
}
