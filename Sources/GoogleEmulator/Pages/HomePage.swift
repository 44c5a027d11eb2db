import EmulatorServer
import Encodings
import Hummingbird

/// The page of the Google app: makes links, uses them, and shows every request and response.
struct HomePage {
    let state: GoogleState
    /// Token of the forms (CSRF).
    let token: String

    var response: Response {
        GooglePage(
            app: .google, title: "Fake Google",
            content: """
                <h1>Link your account</h1>
                <div class="columns"><div>
                \(newLink)
                \(LinksSection(links: state.links, token: token).html)
                \(StreamlinedForm(token: token).html)
                \(events)
                \(setup)
                </div><div>
                \(ExchangesSection(exchanges: state.exchanges).html)
                </div></div>
                """, isWide: true
        ).response
    }

    private var newLink: String {
        """
        <section><h2>Link with the app</h2>
        <form method="post" action="/link">\(HiddenFields.html([("token", token)]))
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

    private var events: String {
        let received = state.receivedEvents.reversed().map { event in
            "<tr><td>\(event.type.htmlEscaped)</td><td>\(event.linkID.map { "link \($0)" } ?? "unknown token")</td>"
                + "<td><code>\(String(event.tokenHash.prefix(16)))…</code></td><td>\(event.deliveries)</td></tr>"
        }
        let table =
            received.isEmpty
            ? "<p>None yet. The server sends one when a link ends there; reload to see it.</p>"
            : "<table><tr><th>Event</th><th>Link</th><th>Hash</th><th>Delivered</th></tr>\(received.joined())</table>"
        return """
            <section id="events"><h2>Security events of the server</h2>
            \(table)
            <p><a class="button" href="/">Reload</a></p>
            <h2>Send an event of Google</h2>
            <p>\(receiver)</p>
            <form method="post" action="/events">\(HiddenFields.html([("token", token)]))
            <div class="row">
            \(HTML.choice("Event", "type", SentEventType.allCases.map(\.rawValue)))
            \(HTML.text("Google account (sub)", "sub", value: GoogleAccount().subject))
            \(HTML.choice("reason (account-disabled)", "reason", ["hijacking", "bulk-account"]))
            <button>Send</button></div>
            </form></section>
            """
    }

    private var receiver: String {
        guard let stream = state.update({ $0.events.stream }) else {
            return "No receiver is registered (<code>siwa google risc register</code>), so the event goes to "
                + "the linked server."
        }
        let words = stream.isEnabled ? "" : ", which is disabled"
        return "The event goes to the registered receiver <code>\(stream.url.htmlEscaped)</code>\(words)."
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
}

/// The form of streamlined linking.
struct StreamlinedForm {
    let token: String

    var html: String {
        """
        <section><h2>Streamlined linking</h2>
        <p>Google sends its ID token to the token endpoint: <b>check</b> asks whether there is an account, \
        <b>get</b> asks for its tokens, <b>create</b> for a new account.</p>
        <form method="post" action="/streamlined">\(HiddenFields.html([("token", token)]))
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
