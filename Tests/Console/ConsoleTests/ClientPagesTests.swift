import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import HTTPAPI
import OAuthSamples
import StorageConformance
import Synchronization
import Testing

@testable import Console
@testable import OAuth

@Suite struct ClientPagesTests {
    private static func pages(
        _ world: InspectedWorld, registry: MetricsRegistry = MetricsRegistry()
    ) -> [ConsolePage] {
        ClientPages(server: world.server, store: world.store, registry: registry, streams: nil).pages
    }

    private static func page(
        _ world: InspectedWorld, _ id: String, query: [String: String] = [:]
    ) async throws -> String {
        let page = try pages(world).page(.get, "/clients/{client}")
        return try InspectedWorld.html(
            try await page.handle(world.request(query: query, parameters: ["client": id])))
    }

    private static func preview(
        _ world: InspectedWorld, _ id: String, _ page: PagePreview.Page, _ query: [String: String] = [:]
    ) async throws -> (html: String, policy: String)? {
        let preview = try pages(world).page(.get, "/clients/{client}/preview/{page}")
        let answer = try await preview.handle(
            world.request(query: query, parameters: ["client": id, "page": page.rawValue]))
        guard case .document(let html, let policy) = answer else { return nil }
        return (String(decoding: html, as: UTF8.self), policy)
    }

    @Test func `the list has every client with its grants and tokens`() async throws {
        let world = try InspectedWorld()
        let account = try await world.store.signIn(.sample()).account
        _ = try await world.grant(account.id)
        let list = try Self.pages(world).page(.get, "/clients")
        let html = try InspectedWorld.html(try await list.handle(world.request()))
        for id in ["shop", "desktop", "google"] { #expect(html.contains("/console/clients/\(id)\"")) }
        #expect(html.contains("<td class=\"any\"><code>com.example.app</code></td><td>1</td><td>1</td>"))
        #expect(!html.contains("of a sample"))
    }

    @Test func `a service without clients says how to make one`() async throws {
        let world = try InspectedWorld()
        let pages = ClientPages(
            server: nil, store: world.store, registry: MetricsRegistry(), streams: nil
        ).pages
        let html = try InspectedWorld.html(try await pages.page(.get, "/clients").handle(world.request()))
        #expect(html.contains("siwa client new"))
    }

    @Test func `a client's page has its link with a proof key, and no secret`() async throws {
        let world = try InspectedWorld()
        let html = try await Self.page(world, "shop")
        #expect(html.contains("https://accounts.example.com/oauth/authorize?response_type=code"))
        #expect(html.contains("code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"))
        #expect(html.contains("redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb"))
        #expect(!html.contains(OAuthSample.shopSecret))
        #expect(!html.contains(Hexadecimal.encode(SHA256Digest.hash(OAuthSample.shopSecret))))
    }

    @Test func `a judged client's page has its mode with the reason, and the four numbers of seven days`()
        async throws
    {
        let appID = try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app"))
        let bundle = AppCheckPolicy(
            target: .app(bundleID: "com.example.app"), appID: appID, platform: .iOS, mode: .enforced,
            environment: .production, firstAttestingVersion: nil)
        let world = try InspectedWorld(appCheck: AppCheckPolicies([bundle])) {
            $0.clients[1].bundleID = "com.example.app"
        }
        let hour = AppCheckHour.beginning(of: world.now.milliseconds / 1000)
        try await world.store.addAppCheckHours(
            [(hour, 5001), (hour - 86_400, 6000), (hour - AppCheckHour.kept - 3600, 7)].map {
                hour, verified in
                AppCheckHour(
                    target: .oauthClient(id: "desktop"), hour: hour,
                    tally: AppCheckTally(verified: verified, outdatedApp: 40, unknownOrigin: 30, invalid: 20))
            })
        let html = try await Self.page(world, "desktop")
        #expect(html.contains("<dd>enforced, like its bundle ID; the client itself has app_check: off</dd>"))
        for (kind, count) in [
            ("verified", 11_001), ("outdated app", 80), ("unknown origin", 60), ("invalid", 40),
        ] {
            #expect(html.contains(">\(kind)<br>"))
            #expect(html.contains("<td>\(count)</td>"), "\(kind)")
        }
        let google = try await Self.page(world, "google")
        #expect(google.contains("<dd>App Flip is enforced, except for intents of Android"))
        let shop = try await Self.page(world, "shop")
        #expect(
            shop.contains("<dd>not judged: users sign in on Apple") && !shop.contains("the last seven days"))
        #expect(try await !Self.page(InspectedWorld(), "desktop").contains("App Check"))
    }

    @Test func `a client's lifetimes are said in words, and its redirect URIs stand apart`() async throws {
        let world = try InspectedWorld { draft in
            draft.clients[0].refreshTokenIdleLifetime = 30 * 86_400
            draft.clients[0].refreshTokenLifetime = 400 * 86_400
        }
        let shop = try await Self.page(world, "shop")
        #expect(shop.contains("<dd>30 d after its last use, or 400 d after the code was redeemed</dd>"))
        #expect(shop.contains("<details open>\n<summary>Redirect URIs: "))
        let google = try await Self.page(world, "google")
        #expect(google.contains("<dt>Refresh token expires</dt><dd>never</dd>"))
        #expect(google.contains("<details>\n<summary>Redirect URIs: 14<"))
    }

    @Test func `there is a link for each redirect URI, and the authorization endpoint accepts each`()
        throws
    {
        let world = try InspectedWorld()
        let settings = world.server.dependencies.settings
        for client in settings.clients.clients {
            let links = AuthorizeLink.all(of: client, issuer: settings.issuer)
            #expect(links.count == client.redirectURIs.count)
            for link in links {
                let query = try #require(link.url.split(separator: "?").last)
                let decision = AuthorizationRequestCheck(settings).check(
                    query.utf8, as: .query, userAgent: nil)
                guard case .proceed = decision else {
                    Issue.record("refused for \(client.id.rawValue): \(link.redirectURI)")
                    continue
                }
            }
        }
    }

    @Test func `a link can be followed without a script, and those of this machine come first`()
        async throws
    {
        // In production no web application may have an address of this machine.
        let world = try InspectedWorld(isDevelopment: true) { draft in
            for index in draft.clients.indices where draft.clients[index].id == "shop" {
                draft.clients[index].redirectURIs = [
                    "https://shop.example.com/cb", "http://127.0.0.1/site",
                ]
                draft.clients[index].postLogoutRedirectURIs = ["http://127.0.0.1:20301/site"]
            }
            for index in draft.clients.indices where draft.clients[index].id == "desktop" {
                draft.clients[index].redirectURIs = ["http://127.0.0.1/cb"]
            }
        }
        let settings = world.server.dependencies.settings
        let shop = AuthorizeLink.all(
            of: try #require(settings.clients["shop"]), issuer: settings.issuer)
        // Something listens at the port of the page after a sign-out, and nothing at port 80.
        #expect(
            shop.map(\.redirectURI) == ["http://127.0.0.1:20301/site", "https://shop.example.com/cb"])
        #expect(shop.map { $0.note == nil } == [false, true])
        let html = try await Self.page(world, "shop")
        #expect(
            html.contains("<a class=\"button\" href=\"https://accounts.example.com/oauth/authorize?"))
        let desktop = try await Self.page(world, "desktop")
        #expect(desktop.contains("Here nothing listens"))
        #expect(try await Self.page(world, "google").contains("With the other redirect URIs"))
    }

    @Test func `wrong secrets are shown with their number, during a pause and after it`() async throws {
        let world = try InspectedWorld()
        #expect(try await Self.page(world, "shop").contains("No address sent one to this process"))
        let address = RequesterAddress(network: 0xCB00_7107, isVersion4: true)
        for count in 1...12 {
            _ = world.server.guessing.withLock { $0.failed(for: "shop", at: address, now: world.now) }
            guard [1, 12].contains(count) else { continue }
            let html = try await Self.page(world, "shop")
            let row =
                count == 1
                ? "one wrong secret, <span class=\"muted\">not slowed yet</span>"
                : "12 wrong secrets, <span class=\"warn\">the next one must wait 4 s</span>"
            #expect(html.contains("<code>203.0.113.7</code>: \(row)"), "\(html)")
            let list = try InspectedWorld.html(
                try await Self.pages(world).page(.get, "/clients").handle(world.request()))
            #expect(list.contains("<td>0</td><td>1</td></tr>") == (count == 12))
        }
        // After the pause the address is still slowed.
        let guesses = world.server.guessing.withLock {
            $0.guesses(of: "shop", now: world.now.advanced(byMilliseconds: 60_000))
        }
        #expect(
            guesses == [SecretGuesses(network: address.networks[0], wrong: 12, isSlowed: true, pause: nil)])
        let forgotten = world.server.guessing.withLock {
            $0.guesses(of: "shop", now: world.now.advanced(byMilliseconds: 900_000))
        }
        #expect(forgotten == [])
    }

    @Test func `nothing of a redirect URI leaves its quotes in the command`() throws {
        let world = try InspectedWorld { draft in
            for index in draft.clients.indices where draft.clients[index].id == "shop" {
                draft.clients[index].redirectURIs = ["https://shop.example.com/cb'$(id)'"]
            }
        }
        let settings = world.server.dependencies.settings
        let client = try #require(settings.clients["shop"])
        let link = try #require(AuthorizeLink.all(of: client, issuer: settings.issuer).first)
        #expect(link.exchange.contains(#"'redirect_uri=https://shop.example.com/cb'\''$(id)'\'''"#))
    }

    @Test func `Google's page says what to type into its console`() async throws {
        let html = try await Self.page(try InspectedWorld(), "google")
        for value in [
            "https://accounts.example.com/oauth/authorize", "https://accounts.example.com/oauth/token",
            "https://accounts.example.com/link/google/start", "openid email devices",
        ] { #expect(html.contains(value), "\(value)") }
        #expect(html.contains("data-copy=\"google-1\""))
        #expect(!(try await Self.page(try InspectedWorld(), "shop")).contains("data-copy=\"google-1\""))
    }

    @Test(arguments: PagePreview.Page.allCases)
    func `every page is shown in every language and color, and nothing in it works`(
        page: PagePreview.Page
    ) async throws {
        let world = try InspectedWorld { $0.clients[0].allowsDeviceGrant = true }
        for language in ["en", "ar", "tr", "pl"] {
            for scheme in PagePreview.Scheme.allCases {
                let found = try await Self.preview(
                    world, "shop", page, ["language": language, "scheme": scheme.rawValue])
                let (html, policy) = try #require(found, "\(page) \(language)")
                #expect(html.contains("lang=\"\(language)\""))
                #expect(!html.contains(" href=") && !html.contains(" action="))
                #expect(!html.contains("prefers-color-scheme"))
                #expect(html.contains("content=\"\(scheme.rawValue)\""))
                let style = try #require(
                    html.split(separator: "<style>").last?.split(separator: "</style>").first)
                let hash = Base64.encode(SHA256Digest.hash(String(style)))
                #expect(policy.contains("style-src 'sha256-\(hash)'"))
                for rule in ["default-src 'none'", "form-action 'none'", "frame-ancestors 'self'", "sandbox"]
                {
                    #expect(policy.contains(rule))
                }
            }
        }
    }

    @Test func `a page that a client does not have, and an unknown client, are not found`() async throws {
        let world = try InspectedWorld()
        #expect(try await Self.preview(world, "shop", .device) == nil)
        #expect(try await Self.preview(world, "another", .consent) == nil)
        let page = try Self.pages(world).page(.get, "/clients/{client}")
        guard
            case .notFound = try await page.handle(world.request(parameters: ["client": "<script>"]))
        else {
            Issue.record("found")
            return
        }
    }

    @Test func `the choice of a preview comes from the query, and unknown words count as absent`()
        async throws
    {
        let world = try InspectedWorld()
        let html = try await Self.page(
            world, "shop",
            query: ["page": "logout", "language": "ar", "scheme": "dark", "width": "phone"])
        #expect(html.contains("/console/clients/shop/preview/logout?language=ar&amp;scheme=dark"))
        #expect(html.contains("width=\"390\""))
        let other = try await Self.page(
            world, "shop", query: ["page": "\"><script>", "language": "x", "scheme": "y", "width": "z"])
        #expect(other.contains("/preview/consent?language=en&amp;scheme=light"))
        #expect(!other.contains("<script>"))
    }

    @Test func `all pages are for operators of all apps`() throws {
        let world = try InspectedWorld()
        #expect(Self.pages(world).allSatisfy { $0.access == .operatorsOfAllApps })
    }
}
