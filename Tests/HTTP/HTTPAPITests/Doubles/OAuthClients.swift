import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import EventDelivery
import Foundation
import JOSE
import Logging
import OAuthSamples
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// One client of each kind, all of the first app.
enum OAuthClients {
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let googleURI = "https://oauth-redirect.googleusercontent.com/r/home-link-42"
    static let shopURI = "https://shop.example.com/cb"

    /// Queries of valid requests.
    static let google = query("google", googleURI)
    static let shop = query("shop", shopURI)
    static let desktop = query("desktop", "com.example.app:/cb")
    static let loopback = query("desktop", "http://127.0.0.1:9004/cb")

    static func query(_ client: String, _ redirectURI: String) -> String {
        "client_id=\(client)&redirect_uri=\(WebVisitor.encode(redirectURI))&response_type=code&state=a%2Bb+c"
            + "&code_challenge=\(challenge)&code_challenge_method=S256"
    }

    /// Makes settings with names of the app, as the pages show them.
    static func named(_ change: (inout OAuthDraft) -> Void) throws -> OAuthSettings {
        let deployment = try Deployment(apps: [
            App(
                team: try RunningService.id("A1B2C3D4E5"),
                primaryClientID: try RunningService.id(TokenMint.clientID))
        ])
        return try settings(in: deployment, issuer: "https://siwa.test") {
            $0.appNames = [TokenMint.clientID: ["en": "Example", "tr": "Örnek"]]
            change(&$0)
        }
    }

    struct Unusable: Error {
        let mistakes: [OAuthMistake]
    }

    static func settings(
        in deployment: Deployment, issuer: String, languages: PageLanguages = .builtIn,
        _ change: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> OAuthSettings {
        var google = ClientDraft(
            id: "google", kind: "google_linking", app: TokenMint.clientID, name: ["en": "Google"])
        google.secretHashes = [Hexadecimal.encode(SHA256Digest.hash("secret of Google"))]
        google.scopes = ["openid", "email", "devices"]
        google.projectID = "home-link-42"
        google.appFlip = true
        var shop = ClientDraft(
            id: "shop", kind: "web", app: TokenMint.clientID, name: ["en": "Example Shop", "pl": "Sklep"])
        shop.purpose = ["en": "Shows your orders."]
        shop.secretHashes = [Hexadecimal.encode(SHA256Digest.hash("secret of the shop"))]
        shop.scopes = ["openid", "profile"]
        shop.redirectURIs = [shopURI, "https://shop.example.com/cb?a=1"]
        var desktop = ClientDraft(
            id: "desktop", kind: "native", app: TokenMint.clientID, name: ["en": "Example Desktop"])
        desktop.scopes = ["devices", "history"]
        desktop.redirectURIs = ["com.example.app:/cb", "http://127.0.0.1/cb", "http://[::1]/cb"]
        var draft = OAuthDraft(
            issuer: issuer,
            scopes: [
                ScopeDraft(name: "devices", text: ["en": "Control your devices"], isOptional: true),
                ScopeDraft(name: "history", text: ["en": "See what they did"], isOptional: true),
            ], clients: [google, shop, desktop])
        change(&draft)
        let context = OAuthContext(
            isDevelopment: issuer.hasPrefix("http:"), publicURL: issuer, deployment: deployment,
            appsWithWebSignIn: Set(deployment.apps.map(\.primaryClientID)),
            logos: ["logo": Array("<svg/>".utf8)], languages: languages)
        switch OAuthSettings.check(draft, in: context) {
        case .usable(let settings): return settings
        case .none: throw Unusable(mistakes: [])
        case .refused(let mistakes): throw Unusable(mistakes: mistakes)
        }
    }
}

/// Request bodies as a backend would write them.
enum Bodies {
    static func token(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims = TokenMint.identityClaims()
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    static func json(_ members: [(String, JSONValue)]) -> String {
        String(decoding: JSONValue.object(JSONObject(members)).serialized(), as: UTF8.self)
    }

    static func identityToken(
        _ more: [(String, JSONValue)] = [], _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String { json([("identity_token", .string(try token(change)))] + more) }

    static func notification(type: String = "consent-revoked", id: String = "jti-1") throws -> String {
        // Ten seconds later than the token: consent is withdrawn after it was given.
        var claims = TokenMint.notificationClaims(type: type, at: TokenMint.sampleTime + 10)
        claims["jti"] = .string(id)
        return json([("payload", .string(try TokenMint.shared.sign(claims)))])
    }
}

/// A service with the receiver `billing` for the API key `backend`, and streams of the clients `shop`, which
/// polls, and `desktop`, which is pushed to.
enum EventSample {
    static let key = Result {
        try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
    }

    static func options(store: ReferenceStore = ReferenceStore()) -> RunningService.Options {
        var options = RunningService.Options()
        options.hasOAuth = true
        options.store = store
        options.tokenClients = { draft in
            draft.clients[0].events = "poll"
            draft.clients[1].events = "push"
            draft.clients[1].eventsURL = "https://desktop.example.com/events"
        }
        options.events = { store, feed, now in try streams(store, feed, now) }
        return options
    }

    static func streams(
        _ store: ReferenceStore, _ feed: EventFeed, _ now: @escaping @Sendable () -> Moment,
        signing: @escaping @Sendable () async throws -> TokenSigningKey = { try key.get() }
    ) throws -> EventStreams {
        let billing = PolledReceiver(
            name: "billing", kinds: Set(AccountEvent.Kind.allCases), scope: .all,
            format: SecurityEventFormat(issuer: OAuthSample.issuer, audience: "billing", key: signing))
        let shop = ReceiverName(of: "shop")
        let kinds = Set(ClientEvents.kinds)
        let polled = PolledReceiver(
            name: shop, kinds: kinds, scope: .all,
            format: ClientEventFormat(issuer: OAuthSample.issuer, client: "shop", store: store, key: signing))
        return EventStreams(
            polling: EventPolling(store: store, feed: feed, now: now, logger: .silent),
            keyed: [.init(billing, keyName: "backend")],
            clients: [
                "shop": .init(name: shop, kinds: kinds, delivery: .poll(polled)),
                "desktop": .init(
                    name: ReceiverName(of: "desktop"), kinds: kinds,
                    delivery: .push(url: "https://desktop.example.com/events")),
            ], store: store, now: now)
    }

    static let names: [ReceiverName] = ["billing", "client:shop", "client:desktop"]

    static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
    }

    static let shop = basic("shop", OAuthSample.shopSecret)
}

extension Trait where Self == TestScope<RunningService> {
    /// A service with the receiver and the streams of `EventSample`.
    static var eventStreams: Self {
        Self { body in
            let store = ReferenceStore()
            try await store.addReceivers(EventSample.names, at: 0)
            try await RunningService.with(EventSample.options(store: store), body)
        }
    }
}
