import EmulatorServer
import Encodings
import Hummingbird
import Pages

extension PageRoutes {
    /// The page of the Google app: makes links, uses them, and shows every request and response.
    var home: Response {
        let exchanges = state.exchanges
        return .page(.google, "Fake Google", isWide: true) {
            "<h1>Link your account</h1>"
            "<div class=\"columns\"><div>"
            linkForm
            HTML.section("Links, newest first") {
                for link in state.links.reversed() { section(of: link) }
                if state.links.isEmpty { "<p>None yet.</p>" }
            }
            streamlinedForm
            events
            setup
            "</div><div>"
            HTML.section("Every request and answer, newest first", id: "exchanges") {
                for exchange in exchanges.reversed() {
                    Details("\(exchange.number). \(exchange.title)", isOpen: exchange == exchanges.last) {
                        CodeBlock("Request \(exchange.number)", exchange.request)
                        CodeBlock("Response \(exchange.number)", exchange.response)
                    }
                }
                if exchanges.isEmpty { "<p>None yet.</p>" }
            }
            "</div></div>"
        }
    }

    private var linkForm: HTML {
        let scope = state.configuration.scopes.joined(separator: " ")
        return .section("Link with the app") {
            HTML.form(to: "/link", [("token", token)]) {
                """
                <div class="row">
                \(HTML.input("Scope", "scope", value: scope))
                \(HTML.input("user_locale", "user_locale", hint: "en, ar, tr, pl"))
                \(HTML.input("login_hint", "login_hint", hint: "none"))
                </div>
                <label class="check"><input type="checkbox" name="pkce" value="1" checked> with PKCE</label>
                <div class="row">
                <button class="main" name="mode" value="browser">Link in the browser</button>
                <button name="mode" value="app_flip">Link with your iPhone app (App Flip)</button>
                </div>
                """
            }
        }
    }

    /// An ended link has buttons too, to show how the server refuses it.
    private func section(of link: AccountLink) -> HTML {
        HTML {
            "<div class=\"link\" id=\"link-\(link.id)\">"
            "<p>Link \(link.id) \(link.mode.words): \(link.state)</p>"
            HTML.codes([
                ("scope", link.scope), ("access token", link.shownToken),
                ("refresh token", link.refreshToken.map { ShownText.shortened($0) }),
                ("Google account", link.subject), ("the app's API says", link.introspection),
                ("the app's account", link.account),
            ])
            if link.accessToken != nil {
                HTML.form(to: "/links", [("token", token), ("link", link.id)]) {
                    """
                    <div class="row"><button name="action" value="refresh">Refresh</button>
                    <button name="action" value="call">Call the app's API</button>
                    """
                    if link.status == .linked { "<button name=\"action\" value=\"unlink\">Unlink</button>" }
                    "</div>"
                }
            }
            "</div>"
        }
    }

    private var streamlinedForm: HTML {
        let account = GoogleAccount()
        return .section("Streamlined linking") {
            """
            <p>Google sends its ID token to the token endpoint: <b>check</b> asks whether there is an account, \
            <b>get</b> asks for its tokens, <b>create</b> for a new account.</p>
            """
            HTML.form(to: "/streamlined", [("token", token)]) {
                """
                <div class="row">
                \(HTML.input("Google account (sub)", "sub", value: account.subject))
                \(HTML.input("E-mail address", "email", value: account.email))
                </div>
                <div class="row"><button name="intent" value="check">check</button>
                <button name="intent" value="get">get</button>
                <button name="intent" value="create">create</button></div>
                """
            }
        }
    }

    private var events: HTML {
        let types = SentEventType.allCases.map { ($0.rawValue, $0.rawValue) }
        let reasons = ["hijacking", "bulk-account"].map { ($0, $0) }
        return .section("Security events of the server", id: "events") {
            Table(
                nil, ["Event", "Link", "Hash", "Delivered"], state.receivedEvents.reversed(),
                ifEmpty: "None yet. The server sends one when a link ends there; reload to see it."
            ) {
                [
                    .text($0.type), .text($0.linkID.map { "link \($0)" } ?? "unknown token"),
                    .code("\($0.tokenHash.prefix(16))…"), "\($0.deliveries)",
                ]
            }
            """
            <p><a class="button" href="/">Reload</a></p>
            <h2>Send an event of Google</h2>
            <p>\(receiver)</p>
            """
            HTML.form(to: "/events", [("token", token)]) {
                """
                <div class="row">
                <label>Event\(Select("type", types).html)</label>
                \(HTML.input("Google account (sub)", "sub", value: GoogleAccount().subject))
                <label>reason (account-disabled)\(Select("reason", reasons).html)</label>
                <button>Send</button></div>
                """
            }
        }
    }

    /// The registered receiver of Google's events, in words.
    private var receiver: HTML {
        guard let stream = state.update({ $0.events.stream }) else {
            return """
                No receiver is registered (<code>siwa google risc register</code>), so the event goes to the \
                linked server.
                """
        }
        let disabled = stream.isEnabled ? "" : ", which is disabled"
        return "The event goes to the registered receiver \(HTML.code(stream.url))\(disabled)."
    }

    private var setup: HTML {
        let (configuration, server) = (state.configuration, try? state.server())
        return .section("What is typed into Google's console") {
            HTML.codes([
                ("authorization URL", server?.authorizationURL ?? "none"),
                ("token URL", server?.tokenURL ?? "none"), ("client_id", configuration.clientID),
                ("client_secret", ShownText.shortened(configuration.clientSecret)),
                ("project", configuration.projectID),
                ("aud of Google's tokens", configuration.googleClientID),
                ("redirect URI", state.redirectURIs[0]), ("redirect URI of App Flip", state.redirectURIs[1]),
            ])
            """
            <p>Google's own redirect URIs are at <code>https://oauth-redirect.googleusercontent.com</code>, which \
            does not lead here. So this server plays that host, and the client of the authorization server has \
            these addresses as <code>app_flip_test_redirect_uris</code>, which are for development only.</p>
            """
        }
    }
}

extension AccountLink.Mode {
    fileprivate var words: String {
        switch self {
        case .browser: "in the browser"
        case .appFlip: "by App Flip"
        case .streamlined: "by streamlined linking"
        }
    }
}

extension AccountLink {
    fileprivate var state: HTML {
        switch status {
        case .linked: return "<b class=\"good\">linked</b>, as far as Google knows"
        case .failed(let error):
            let next: HTML =
                goesOnInBrowser
                ? ". Google goes on in the browser: press <b>Link in the browser</b>."
                : mode == .appFlip ? ". Google ends linking." : ""
            return "<b class=\"bad\">failed</b> with \(HTML.code(error))\(next)"
        case .unlinkedByGoogle: return "<b class=\"bad\">unlinked</b> here, and revoked at the server"
        case .unlinkedByService: return "<b class=\"bad\">unlinked</b> by the server, which has sent an event"
        case .refused: return "<b class=\"bad\">ended</b>: the server answered invalid_grant"
        }
    }

    fileprivate var shownToken: String? {
        let end = expiresAt.map { ", until \(RFC3339.text(milliseconds: $0 * 1000))" }
        return accessToken.map { ShownText.shortened($0) + (end ?? "") }
    }

    /// The latest response of the app's API. Google and the server can differ for a while.
    fileprivate var introspection: String? {
        isActive.map { isActive in
            guard !isActive else { return "the access token is active" }
            let words = "the access token is not active"
            guard status == .linked else { return words }
            return """
                \(words). Google learns why when it refreshes the token, or from a security event of the server.
                """
        }
    }
}
