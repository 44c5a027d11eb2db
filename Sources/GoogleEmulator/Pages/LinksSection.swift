import EmulatorServer
import Encodings

/// The links on the page, newest first, with their actions.
struct LinksSection {
    let links: [AccountLink]
    /// Token of the forms (CSRF).
    let token: String

    var html: String {
        let items = links.reversed().map { link in
            """
            <div class="link" id="link-\(link.id)">
            <p>Link \(link.id) \(words(for: link.mode)): \(words(for: link))</p>
            \(HTML.table(rows(of: link)))
            \(link.accessToken == nil ? "" : buttons(link))</div>
            """
        }
        return """
            <section><h2>Links, newest first</h2>
            \(items.isEmpty ? "<p>None yet.</p>" : items.joined(separator: "\n"))
            </section>
            """
    }

    private func words(for mode: AccountLink.Mode) -> String {
        switch mode {
        case .browser: "in the browser"
        case .appFlip: "by App Flip"
        case .streamlined: "by streamlined linking"
        }
    }

    private func words(for link: AccountLink) -> String {
        switch link.status {
        case .linked: "<b class=\"good\">linked</b>, as far as Google knows"
        case .failed(let error):
            "<b class=\"bad\">failed</b> with <code>\(error.htmlEscaped)</code>"
                + (link.mode == .appFlip
                    ? link.goesOnInBrowser
                        ? ". Google goes on in the browser: press <b>Link in the browser</b>."
                        : ". Google ends linking." : "")
        case .unlinkedByGoogle: "<b class=\"bad\">unlinked</b> here, and revoked at the server"
        case .unlinkedByService: "<b class=\"bad\">unlinked</b> by the server, which has sent an event"
        case .refused: "<b class=\"bad\">ended</b>: the server answered invalid_grant"
        }
    }

    private func rows(of link: AccountLink) -> [(name: String, value: String)] {
        var rows: [(name: String, value: String)] = []
        if let scope = link.scope { rows.append(("scope", scope)) }
        if let token = link.accessToken {
            let end = link.expiresAt.map { ", until \(RFC3339.text(milliseconds: $0 * 1000))" } ?? ""
            rows.append(("access token", ShownText.shortened(token) + end))
        }
        if let token = link.refreshToken { rows.append(("refresh token", ShownText.shortened(token))) }
        if let subject = link.subject { rows.append(("Google account", subject)) }
        if let isActive = link.isActive {
            rows.append(("the app's API says", isActive ? "the access token is active" : inactive(link)))
        }
        if let account = link.account { rows.append(("the app's account", account)) }
        return rows
    }

    /// Text for an inactive access token. Google and the server can differ for a while.
    private func inactive(_ link: AccountLink) -> String {
        let words = "the access token is not active"
        guard link.status == .linked else { return words }
        return
            "\(words). Google learns why when it refreshes the token, or from a security event of the server."
    }

    /// Buttons of a link. An ended link has buttons too, to show how the server refuses it.
    private func buttons(_ link: AccountLink) -> String {
        let unlink =
            link.status == .linked ? "<button name=\"action\" value=\"unlink\">Unlink</button>" : ""
        return """
            <form method="post" action="/links">\(HiddenFields.html([("token", token), ("link", link.id)]))
            <div class="row"><button name="action" value="refresh">Refresh</button>
            <button name="action" value="call">Call the app's API</button>
            \(unlink)</div></form>
            """
    }
}

/// Every request and response, newest first. The newest is open.
struct ExchangesSection {
    let exchanges: [Exchange]

    var html: String {
        let newest = exchanges.last?.number
        let entries = exchanges.reversed().map { exchange in
            """
            <details\(exchange.number == newest ? " open" : "")>\
            <summary>\(exchange.number). \(exchange.title.htmlEscaped)</summary>
            <pre>\(exchange.request.htmlEscaped)</pre>
            <pre>\(exchange.response.htmlEscaped)</pre></details>
            """
        }
        return """
            <section id="exchanges"><h2>Every request and answer, newest first</h2>
            \(entries.isEmpty ? "<p>None yet.</p>" : entries.joined(separator: "\n"))
            </section>
            """
    }
}
