package import AppAttestation
import AppleAccounts
package import AuthorizationServer
import Encodings
package import EventDelivery
package import HTTPAPI
package import OAuth
import Pages
import SignIn

/// The pages about OAuth clients: configuration, use, and a preview of the pages that users see.
package struct ClientPages: Sendable {
    /// The OAuth server; `nil` if there are no OAuth clients.
    let server: OAuthServer?
    let store: any GrantInspectionStore & AppCheckHourStore
    let registry: MetricsRegistry
    let streams: EventStreams?

    /// Maximum number of grants, and of token families, that a page counts.
    private static let countedRows = 5_000
    /// Maximum number of addresses that the page lists for sending wrong secrets.
    private static let mostAddresses = 20
    /// Number of authorization links that the page shows outside the collapsed list.
    private static let fewLinks = 2

    package init(
        server: OAuthServer?, store: any GrantInspectionStore & AppCheckHourStore,
        registry: MetricsRegistry, streams: EventStreams?
    ) {
        (self.server, self.store, self.registry, self.streams) = (server, store, registry, streams)
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/clients", access: .operatorsOfAllApps, entry: ("OAuth clients", 50), handle: list),
            ConsolePage(.get, "/clients/{client}", access: .operatorsOfAllApps, handle: page),
            ConsolePage(
                .get, "/clients/{client}/preview/{page}", access: .operatorsOfAllApps, handle: preview),
        ]
    }

    private func client(_ request: ConsoleRequest) -> (OAuthClient, OAuthServer)? {
        guard let server,
            let client = server.dependencies.settings.clients.clients.first(where: {
                $0.id.rawValue == request.parameters["client"]
            })
        else { return nil }
        return (client, server)
    }

    private func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let server else {
            return .page("OAuth clients") {
                """
                <p class="empty">No OAuth client is configured. <code>siwa client new</code> prints the lines for \
                one.</p>
                """
            }
        }
        let settings = server.dependencies.settings
        let usage = try await store.clientUsage(lookingAt: Self.countedRows)
        let table = Table(
            "Clients",
            [
                .head("Client", "any"), "Kind", .any("App"), "Grants", "Token families",
                "Refused token requests", "Slowed addresses",
            ], settings.clients.clients
        ) { client in
            [
                """
                <a href="/console/clients/\(client.id.rawValue)">\(client.name.english)</a><br>\
                <code>\(client.id.rawValue)</code>
                """,
                .text(client.kind.name), .code(client.app.rawValue), "\(usage.grants[client.id] ?? 0)",
                "\(usage.families[client.id] ?? 0)",
                "\(refusals(of: client).map(\.count).reduce(0, +))",
                "\(server.secretGuesses(of: client.id).count(where: \.isSlowed))",
            ]
        }
        return .page("OAuth clients") {
            "<p>Issuer: <code>\(settings.issuer.text)</code></p>"
            Card("Clients") {
                table
                if usage.isSample {
                    """
                    <p class="muted">The database has more grants than a page counts: grants and token families \
                    are of a sample of \(Self.countedRows) rows each.</p>
                    """
                }
                """
                <p class="muted">Refused requests are of this process since its start. A client past the \
                twentieth has no number of its own.</p>
                """
            }
        }
    }

    private func page(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let (client, server) = client(request) else { return .notFound }
        let settings = server.dependencies.settings
        let usage = try await store.clientUsage(lookingAt: Self.countedRows)
        let judged = try await judgedRequests(of: client, at: request.now)
        let facts = facts(of: client, server, masksURLs: !request.viewer.isDevelopment)
        let uris = client.redirectURIs
        return .page(
            client.name.english,
            heading: """
                <p><a href="/console/clients">OAuth clients</a></p>
                <h1>\(client.name.english)</h1>
                """
        ) {
            Division("grid") {
                Card("Configuration") {
                    Facts(facts)
                    // A Google client has more than a dozen redirect URIs, so the page collapses a long list.
                    Details("Redirect URIs: \(uris.count)", isOpen: uris.count <= 4) {
                        "<ul>\n\(HTML(uris.map { "<li><code>\($0.text)</code></li>\n" }))</ul>"
                    }
                }
                Card("Use") {
                    Facts([
                        Fact("Grants", "\(usage.grants[client.id] ?? 0)"),
                        Fact("Token families", "\(usage.families[client.id] ?? 0)"),
                    ])
                    if usage.isSample {
                        """
                        <p class="muted">Of a sample of \(Self.countedRows) rows each, because the database has \
                        more.</p>
                        """
                    }
                    "<h3>Refused token requests</h3>"
                    Table(
                        nil, [.head("Reason", "any"), "Count"], refusals(of: client),
                        ifEmpty: "None since the start of this process."
                    ) { reason, count in
                        ["\(HTML.code(reason.rawValue))<br>\(HTML.muted(reason.explanation))", "\(count)"]
                    }
                    if let judged {
                        "<h3>App Check, the last seven days</h3>"
                        Table(nil, [.head("Kind"), "Requests"], AppCheckKind.allCases) { kind in
                            let (name, meaning) = kind.words
                            return ["\(name)<br>\(HTML.muted(meaning))", "\(judged[kind])"]
                        }
                    }
                    "<h3>Wrong secrets of the last 15 minutes</h3>"
                    Self.wrongSecrets(server.secretGuesses(of: client.id))
                }
            }
            Self.links(of: client, settings.issuer)
            client.googleLinking.map { Self.googleCard(client, $0, settings.issuer).html }
            Self.previewCard(of: client, settings, request.query)
        }
    }

    private func facts(of client: OAuthClient, _ server: OAuthServer, masksURLs: Bool) -> [Fact?] {
        func duration(_ seconds: Int64) -> String { ShownDuration(milliseconds: seconds * 1000).description }
        let times = client.lifetimes
        let ends = [
            times.refreshTokenIdle.map { "\(duration($0)) after its last use" },
            times.refreshTokenAbsolute.map { "\(duration($0)) after the code was redeemed" },
        ].compactMap(\.self)
        let (google, stream) = (client.googleLinking, streams?.stream(of: client.id))
        let delivery =
            switch stream?.delivery {
            case .push(let url)?: "pushed to \(masksURLs ? MaskedURL.text(url) : url)"
            case .poll?: "polled by the client"
            case nil: ""
            }
        return [
            Fact("ID", .code(client.id.rawValue)), Fact("Kind", .text(client.kind.name)),
            Fact("App", .text(client.app.rawValue)), Fact("Scopes", .text(client.scopes.text)),
            Fact("Audience", .text(client.audience)),
            Fact(
                "Secrets",
                client.secretHashes.isEmpty ? "none: a public client" : "\(client.secretHashes.count)"),
            Fact("Proof keys (PKCE)", .text(client.proofKeyRule.words)),
            Fact("Code expires after", .text(duration(times.code))),
            Fact("Access token expires after", .text(duration(times.accessToken))),
            Fact("Refresh token expires", .text(ends.isEmpty ? "never" : ends.joined(separator: ", or "))),
            Fact("Refresh tokens", "at most \(client.refreshTokenLimit) for one account"),
            Fact("Device grant", client.mayUse(.deviceCode) ? "allowed" : "not allowed"),
            Fact("First party", client.isFirstParty ? "yes" : "no"),
            client.nativeSignInBundleID.map { Fact("Native sign-in", .text($0.rawValue)) },
            coverage(of: client, server).map { Fact("App Check", .text($0.explanation)) },
            google.map { Fact("Google project", .text($0.projectID)) },
            google.map { Fact("App Flip", $0.appFlip ? "on" : "off") },
            stream.map { _ in Fact("Event stream", .text(delivery)) },
            stream.map { stream in
                let kinds = stream.kinds.map(\.rawValue).sorted()
                return Fact("Events of the stream", .text(kinds.joined(separator: ", ")))
            },
        ]
    }

    /// Returns the client's App Check coverage; `nil` if App Check does not judge the client's app.
    private func coverage(of client: OAuthClient, _ server: OAuthServer) -> AppCheckCoverage.Client? {
        guard let checks = server.dependencies.signIn.appChecks,
            let app = server.dependencies.deployment.app(for: client.app)
        else { return nil }
        let coverage = AppCheckCoverage(of: app, checks.policies, oauthClients: [client])
        return coverage.judges ? coverage.clients.last : nil
    }

    /// Counts token requests refused since startup, by reason. Only the first 20 clients have a metric label.
    private func refusals(of client: OAuthClient) -> [(reason: TokenRefusalReason, count: Int)] {
        registry.values(of: "siwa_oauth_token_refusals_total").compactMap { labels, value in
            guard value > 0,
                labels.contains(where: { $0.name == "client" && $0.value == client.id.rawValue }),
                let word = labels.first(where: { $0.name == "reason" })?.value,
                let reason = TokenRefusalReason(rawValue: word)
            else { return nil }
            return (reason, Int(value))
        }.sorted { ($1.count, $0.reason.rawValue) < ($0.count, $1.reason.rawValue) }
    }

    /// Returns the number of requests judged in the last seven days, on all replicas; `nil` if App Check does
    /// not judge this client.
    private func judgedRequests(of client: OAuthClient, at now: Moment) async throws -> AppCheckTally? {
        guard client.isJudged else { return nil }
        let first = AppCheckHour.beginning(of: now.milliseconds / 1000) - AppCheckHour.kept
        return try await store.appCheckHours(of: [.oauthClient(id: client.id.rawValue)], from: first)
            .reduce(into: AppCheckTally()) { $0 += $1.tally }
    }

    private static func wrongSecrets(_ guesses: [SecretGuesses]) -> HTML {
        guard !guesses.isEmpty else { return "<p class=\"empty\">No address sent one to this process.</p>" }
        let more = guesses.count - mostAddresses
        return HTML {
            "<ul>\n\(HTML(guesses.prefix(mostAddresses).map(\.line)))</ul>"
            if more > 0 { "<p class=\"muted\">And \(more) further addresses.</p>" }
            """
            <p class="muted">Ten of an address are free. What is refused during a pause is not counted here, and a \
            right secret is never slowed.</p>
            """
        }
    }

    private static func links(of client: OAuthClient, _ issuer: Issuer) -> HTML? {
        let links = AuthorizeLink.all(of: client, issuer: issuer)
        guard !links.isEmpty else { return nil }
        let blocks = links.enumerated().map { $1.html(number: $0 + 1) }
        return Card("Authorize link") {
            "<p>Begins a sign-in for this client. It comes back to the redirect URI with a code.</p>"
            if client.googleLinking == nil {
                """
                <p>The code challenge is of the example verifier of RFC 7636: \
                <code>\(AuthorizeLink.exampleVerifier)</code>. Real clients make a new one for each request.</p>
                """
            }
            HTML(Array(blocks.prefix(fewLinks)))
            if blocks.count > fewLinks {
                Details("With the other redirect URIs") { HTML(Array(blocks.dropFirst(fewLinks))) }
            }
        }.html
    }

    /// Returns the table from the documentation page on Google account linking, filled with this deployment's
    /// values.
    private static func googleCard(_ client: OAuthClient, _ google: GoogleLinking, _ issuer: Issuer) -> Card {
        var fields = [
            ("Client ID issued by your app", client.id.rawValue),
            ("Authorization URL", issuer.url(AuthorizeUseCase.path)),
            ("Token URL", issuer.url("/oauth/token")), ("Scopes", client.scopes.text),
        ]
        if google.appFlip {
            fields.append(("App Flip for iOS: universal link", issuer.url("/link/google/start")))
        }
        return Card("What to type into Google's console") {
            """
            <p>Account linking, linking type "OAuth", authorization code. The client secret is the one that \
            <code>siwa client new</code> printed; this service has its hash only.</p>
            """
            Facts(
                fields.enumerated().map { index, field in
                    let id = "google-\(index + 1)"
                    return Fact(
                        .text(field.0), "<code id=\"\(id)\">\(field.1)</code> \(HTML.copyButton(for: id))")
                })
        }
    }
}

// Previews of the pages that users see. Unknown query values are treated as absent.
extension ClientPages {
    /// Frame widths in pixels.
    private static let widths = [("desktop", 760), ("phone", 390)]

    private static func look(
        _ query: [String: String], _ settings: OAuthSettings
    ) -> (PageLanguage, PagePreview.Scheme) {
        (
            settings.languages.all.first { $0.rawValue == query["language"] } ?? .english,
            query["scheme"].flatMap { PagePreview.Scheme(rawValue: $0) } ?? .light
        )
    }

    /// Returns the preview card; `nil` if the client has no page to preview.
    private static func previewCard(
        of client: OAuthClient, _ settings: OAuthSettings, _ query: [String: String]
    ) -> HTML? {
        let pages = PagePreview.Page.allCases.filter { page in
            PagePreview(page, of: client, settings: settings, language: .english, scheme: .light) != nil
        }.map(\.rawValue)
        guard let first = pages.first else { return nil }
        let page = pages.first { $0 == query["page"] } ?? first
        let (language, scheme) = look(query, settings)
        let (width, pixels) = widths.first { $0.0 == query["width"] } ?? widths[0]
        func choice(_ label: String, _ name: String, _ words: [String], _ chosen: String) -> HTML {
            let select = Select(name, id: "preview-\(name)", words.map { ($0, $0) }, chosen: chosen)
            return "<p><label for=\"preview-\(name)\">\(label)</label> \(select.html)</p>"
        }
        let source =
            "/console/clients/\(client.id.rawValue)/preview/\(page)?language=\(language.rawValue)"
            + "&scheme=\(scheme.rawValue)"
        return """
            <section class="card" id="preview" aria-labelledby="preview-title">
            <h2 id="preview-title">Preview</h2>
            <p>The pages of this service with sample values. Nothing in them works.</p>
            <form class="row" method="get" action="#preview">
            \(choice("Page", "page", pages, page))
            \(choice("Language", "language", settings.languages.all.map(\.rawValue), language.rawValue))
            \(choice("Colors", "scheme", PagePreview.Scheme.allCases.map(\.rawValue), scheme.rawValue))
            \(choice("Width", "width", widths.map(\.0), width))
            <p><button>Show</button></p>
            </form>
            <div class="scroll" tabindex="0" role="region" aria-label="Preview of a page">
            <iframe class="preview" title="The page \(page) in \(language.rawValue), \(scheme.rawValue)" \
            src="\(source)" width="\(pixels)" height="760" sandbox loading="lazy"></iframe>
            </div>
            </section>
            """
    }

    /// Returns the document for the frame that shows a client's page.
    private func preview(_ request: ConsoleRequest) -> ConsoleAnswer {
        guard let (client, server) = client(request) else { return .notFound }
        let settings = server.dependencies.settings
        let (language, scheme) = Self.look(request.query, settings)
        guard let page = request.parameters["page"].flatMap({ PagePreview.Page(rawValue: $0) }),
            let preview = PagePreview(
                page, of: client, settings: settings, language: language, scheme: scheme)
        else { return .notFound }
        return .document(html: preview.html, contentSecurityPolicy: preview.policy)
    }
}

extension ClientUsage {
    fileprivate var isSample: Bool { isSampleOfGrants || isSampleOfFamilies }
}

extension ProofKeyRule {
    fileprivate var words: String {
        switch self {
        case .optional: "optional"
        case .required: "required"
        case .requiredWithoutNonce: "required, or a nonce"
        }
    }
}

extension AppCheckKind {
    fileprivate var words: (name: String, meaning: String) {
        switch self {
        case .verified: ("verified", "with a proof that holds")
        case .outdatedApp: ("outdated app", "without a proof, from a version that makes none")
        case .unknownOrigin: ("unknown origin", "without a proof otherwise")
        case .invalid: ("invalid", "with a proof that does not hold")
        }
    }
}

extension SecretGuesses {
    fileprivate var line: HTML {
        let count = wrong == 1 ? "one wrong secret" : "\(wrong) wrong secrets"
        let state =
            pause.map { "the next one must wait \($0) s" }
            ?? (isSlowed ? "slowed: the next one begins a pause" : "not slowed yet")
        return """
            <li><code>\(network?.text ?? "unknown addresses")</code>: \(count), \
            \(HTML.span(isSlowed ? "warn" : "muted", .text(state)))</li>

            """
    }
}
