import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
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
