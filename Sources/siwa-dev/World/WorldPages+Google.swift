import AppleAccounts
import Console
import Encodings
import GoogleEmulator
import Pages

extension WorldPages {
    var googlePages: [ConsolePage] {
        [
            ConsolePage(.get, Place.google, access: .development, handle: google),
            Self.action(Place.google) { request in
                guard let use = LinkAction.all.first(where: { $0.name == request.form["use"] }),
                    let link = request.form["link"]
                else { return .refused("This is no use of a link.") }
                let status = try await world.requireGoogle().state.carryOut(use, on: link)
                let answer = status.map { "siwa answered \($0)" } ?? "no answer of siwa arrived"
                return .redirect(to: Place.google, notice: "Google \(use.past) link \(link): \(answer).")
            },
        ]
    }

    private func google(_ request: ConsoleRequest) -> ConsoleAnswer {
        Self.page("Google", at: Place.google, isLive: true) {
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
                for use in LinkAction.all where use.isPossible(link) {
                    PostForm(to: Place.google, request, [("link", link.id)]) {
                        button(
                            use.title, use.name == "unlink" ? "danger" : "quiet", sends: ("use", use.name),
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
}
