package import AppAttestation
import AppleAccounts
package import AuthorizationServer
package import EventDelivery
package import HTTPAPI
package import OAuth
import SignIn

/// The OAuth clients: what each is configured for, how it is used, and how its users see it.
package struct ClientPages: Sendable {
    /// `nil` without OAuth clients.
    let server: OAuthServer?
    let store: any GrantInspectionStore & AppCheckHourStore
    let registry: MetricsRegistry
    let streams: EventStreams?

    /// Number of rows of grants, and of token families, that a page counts.
    static let countedRows = 5_000

    package init(
        server: OAuthServer?, store: any GrantInspectionStore & AppCheckHourStore,
        registry: MetricsRegistry, streams: EventStreams?
    ) {
        (self.server, self.store, self.registry, self.streams) = (server, store, registry, streams)
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/clients", access: .operatorsOfAllApps, entry: .init("OAuth clients", order: 50)
            ) { _ in try await list() },
            ConsolePage(.get, "/clients/{client}", access: .operatorsOfAllApps) { request in
                try await page(request)
            },
            ConsolePage(.get, "/clients/{client}/preview/{page}", access: .operatorsOfAllApps) { request in
                preview(request)
            },
        ]
    }

    private var clients: [OAuthClient] { server?.dependencies.settings.clients.clients ?? [] }

    private struct Listed: Sendable {
        let hasClients: Bool
        let issuer: String
        let clients: [Row]
        let isSample: Bool
        let most: Int
    }

    private struct Row: Sendable {
        let id: String
        let name: String
        let kind: String
        let app: String
        let grants: Int
        let families: Int
        let refusals: Int
        let slowed: Int
    }

    private func list() async throws -> ConsoleAnswer {
        guard let server else {
            return .template(
                "clients", title: "OAuth clients",
                values: Listed(
                    hasClients: false, issuer: "", clients: [], isSample: false, most: Self.countedRows))
        }
        let usage = try await store.clientUsage(lookingAt: Self.countedRows)
        let rows = clients.map { client in
            Row(
                id: client.id.rawValue, name: client.name.english, kind: client.kind.name,
                app: client.app.rawValue, grants: usage.grants[client.id] ?? 0,
                families: usage.families[client.id] ?? 0,
                refusals: refusals(of: client).map(\.count).reduce(0, +),
                slowed: server.secretGuesses(of: client.id).count(where: \.isSlowed))
        }
        return .template(
            "clients", title: "OAuth clients",
            values: Listed(
                hasClients: true, issuer: server.dependencies.settings.issuer.text, clients: rows,
                isSample: usage.isSampleOfGrants || usage.isSampleOfFamilies, most: Self.countedRows))
    }

    /// The refused token requests since the start, by reason. Metrics have a label of the client for the first
    /// twenty clients.
    func refusals(of client: OAuthClient) -> [ClientValues.Refusal] {
        registry.values(of: "siwa_oauth_token_refusals_total").compactMap { labels, value in
            guard value > 0,
                labels.contains(where: { $0.name == "client" && $0.value == client.id.rawValue }),
                let word = labels.first(where: { $0.name == "reason" })?.value,
                let reason = TokenRefusalReason(rawValue: word)
            else { return nil }
            return ClientValues.Refusal(reason: word, count: Int(value), explanation: reason.explanation)
        }.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }

    private func page(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let server,
            let client = clients.first(where: { $0.id.rawValue == request.parameters["client"] })
        else { return .notFound }
        let usage = try await store.clientUsage(lookingAt: Self.countedRows)
        let settings = server.dependencies.settings
        let choice = PreviewChoice(request.query, client: client, settings: settings)
        let values = ClientValues(
            client, settings: settings, usage: usage, refusals: refusals(of: client),
            guesses: server.secretGuesses(of: client.id), stream: streams?.stream(of: client.id),
            links: AuthorizeLink.all(of: client, issuer: settings.issuer),
            appCheck: coverage(of: client, server),
            appCheckCounts: try await appCheckCounts(of: client, at: request.now),
            preview: choice.map(PreviewValues.init), masksURLs: !request.viewer.isDevelopment)
        return .template("client", title: client.name.english, values: values)
    }

    /// App Check of the client. `nil` for an app in which nothing is judged.
    private func coverage(of client: OAuthClient, _ server: OAuthServer) -> AppCheckCoverage.Client? {
        guard let checks = server.dependencies.signIn.appChecks,
            let app = server.dependencies.deployment.app(for: client.app)
        else { return nil }
        let coverage = AppCheckCoverage(of: app, checks.policies, oauthClients: [client])
        return coverage.judges ? coverage.clients.last : nil
    }

    /// The judged requests of the last seven days, at all replicas. `nil` for a client that is not judged itself.
    private func appCheckCounts(of client: OAuthClient, at now: Moment) async throws -> AppCheckTally? {
        guard client.isJudged else { return nil }
        let first = AppCheckHour.beginning(of: now.milliseconds / 1000) - AppCheckHour.kept
        return try await store.appCheckHours(of: [.oauthClient(id: client.id.rawValue)], from: first)
            .reduce(into: AppCheckTally()) { $0 += $1.tally }
    }

    /// The document in the frame of a client's page.
    private func preview(_ request: ConsoleRequest) -> ConsoleAnswer {
        guard let server,
            let client = clients.first(where: { $0.id.rawValue == request.parameters["client"] }),
            let page = request.parameters["page"].flatMap({ PagePreview.Page(rawValue: $0) })
        else { return .notFound }
        let settings = server.dependencies.settings
        let scheme = request.query["scheme"].flatMap { PagePreview.Scheme(rawValue: $0) } ?? .light
        let language =
            settings.languages.all.first { $0.rawValue == request.query["language"] } ?? .english
        guard
            let preview = PagePreview(
                page, of: client, settings: settings, language: language, scheme: scheme)
        else { return .notFound }
        return .document(html: preview.html, contentSecurityPolicy: preview.policy)
    }
}
