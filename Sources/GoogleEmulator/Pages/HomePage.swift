import Encodings
import Hummingbird

/// The page that is the Google app: makes links, uses them, and shows every request and answer.
struct HomePage {
    let state: GoogleState
    /// Of the forms (CSRF).
    let token: String

    var response: Response {
        GooglePage(
            app: .google, title: "Fake Google",
            content: """
                <h1>Link your account</h1>
                \(newLink)
                \(links)
                \(StreamlinedForm(token: token).html)
                \(events)
                \(setup)
                \(exchanges)
                """
        ).response
    }

    private var newLink: String {
        """
        <section><h2>Link with the app</h2>
        <form method="post" action="/link">\(HTML.hidden([("token", token)]))
        <div class="row">
        \(HTML.text("Scope", "scope", value: state.configuration.scopes.joined(separator: " ")))
        \(HTML.text("user_locale", "user_locale", hint: "en, ar, tr, pl"))
        \(HTML.text("login_hint", "login_hint", hint: "none"))
        </div>
        <label class="check"><input type="checkbox" name="pkce" value="1" checked> with PKCE</label>
        <div class="row">
        <button class="main" name="mode" value="browser">Link in the browser</button>
        <button name="mode" value="app_flip">Link with your iPhone app (App Flip)</button>
        </div>
        </form></section>
        """
    }

    private var links: String {
        let links = state.links.reversed().map { link in
            """
            <div id="link-\(link.id)"><p>Link \(link.id) by \(link.mode.rawValue): \(words(for: link))</p>
            \(HTML.table(rows(of: link)))
            \(link.accessToken == nil ? "" : buttons(link))</div>
            """
        }
        return """
            <section><h2>Links, newest first</h2>
            \(links.isEmpty ? "<p>None yet.</p>" : links.joined(separator: "\n"))
            </section>
            """
    }

    private func words(for link: AccountLink) -> String {
        switch link.status {
        case .linked: "<b class=\"good\">linked</b>"
        case .failed(let error):
            "<b class=\"bad\">failed</b> with <code>\(error.escapedForHTML)</code>"
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
            rows.append(("the app's API", isActive ? "active" : "not active"))
        }
        return rows
    }

    private func buttons(_ link: AccountLink) -> String {
        """
        <form method="post" action="/links">\(HTML.hidden([("token", token), ("link", link.id)]))
        <div class="row"><button name="action" value="refresh">Refresh</button>
        <button name="action" value="call">Call the app's API</button>
        <button name="action" value="unlink">Unlink</button></div></form>
        """
    }

    private var events: String {
        let received = state.receivedEvents.reversed().map { event in
            "<tr><td>\(event.type.escapedForHTML)</td><td>\(event.linkID.map { "link \($0)" } ?? "unknown token")</td>"
                + "<td><code>\(String(event.tokenHash.prefix(16)))…</code></td><td>\(event.deliveries)</td></tr>"
        }
        let table =
            received.isEmpty
            ? "<p>None yet. The server sends one when a link ends there.</p>"
            : "<table><tr><th>Event</th><th>Link</th><th>Hash</th><th>Delivered</th></tr>\(received.joined())</table>"
        return """
            <section><h2>Security events of the server</h2>
            \(table)
            <h2>Send an event of Google</h2>
            <form method="post" action="/events">\(HTML.hidden([("token", token)]))
            <div class="row">
            \(HTML.choice("Event", "type", SentEventType.allCases.map(\.rawValue)))
            \(HTML.text("Google account (sub)", "sub", value: GoogleAccount().subject))
            \(HTML.choice("reason (account-disabled)", "reason", ["hijacking", "bulk-account"]))
            <button>Send</button></div>
            </form></section>
            """
    }

    private var setup: String {
        let configuration = state.configuration
        let server = try? state.server()
        return """
            <section><h2>What is typed into Google's console</h2>
            \(HTML.table([
                ("authorization URL", server?.authorizationURL ?? "none"), ("token URL", server?.tokenURL ?? "none"),
                ("client_id", configuration.clientID),
                ("client_secret", ShownText.shortened(configuration.clientSecret)),
                ("project", configuration.projectID),
                ("aud of Google's tokens", configuration.googleClientID),
                ("redirect URI", state.redirectURIs[0]),
                ("redirect URI of App Flip", state.redirectURIs[1]),
            ]))
            <p>Google's own redirect URIs are at <code>https://oauth-redirect.googleusercontent.com</code>, which \
            does not lead here. So this server plays that host, and the client of the authorization server has \
            these addresses as <code>app_flip_test_redirect_uris</code>, which are for development only.</p>
            </section>
            """
    }

    private var exchanges: String {
        let entries = state.exchanges.reversed().map { exchange in
            """
            <details><summary>\(exchange.number). \(exchange.title.escapedForHTML)</summary>
            <pre>\(exchange.request.escapedForHTML)</pre>
            <pre>\(exchange.answer.escapedForHTML)</pre></details>
            """
        }
        return """
            <section><h2>Every request and answer, newest first</h2>
            \(entries.isEmpty ? "<p>None yet.</p>" : entries.joined(separator: "\n"))
            </section>
            """
    }
}

/// The form of streamlined linking.
struct StreamlinedForm {
    let token: String

    var html: String {
        """
        <section><h2>Streamlined linking</h2>
        <p>Google sends its ID token to the token endpoint: <b>check</b> asks whether there is an account, \
        <b>get</b> asks for its tokens, <b>create</b> for a new account.</p>
        <form method="post" action="/streamlined">\(HTML.hidden([("token", token)]))
        <div class="row">
        \(HTML.text("Google account (sub)", "sub", value: GoogleAccount().subject))
        \(HTML.text("E-mail address", "email", value: GoogleAccount().email))
        </div>
        <div class="row"><button name="intent" value="check">check</button>
        <button name="intent" value="get">get</button>
        <button name="intent" value="create">create</button></div>
        </form></section>
        """
    }
}
