public import AppAttestation
public import AppleAccounts
public import AuthorizationServer
import Cryptography
import Encodings

/// A deployment with one app and one client of each kind: `shop` (web), `desktop` (native) and `google`.
public enum OAuthSample {
    public static let issuer = "https://accounts.example.com"
    public static let shopSecret = "shop-secret"
    public static let googleSecret = "google-secret"
    public static let shopURI = "https://shop.example.com/cb"
    public static let desktopURI = "com.example.app:/cb"
    public static let googleURI = "https://oauth-redirect.googleusercontent.com/r/home-link-42"
    public static let appFlipURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
    /// The `aud` of Google's own tokens.
    public static let googleClientID = "123-abc.apps.googleusercontent.com"

    struct Unusable: Error {
        let mistakes: [OAuthMistake]
    }

    public static func settings(
        in deployment: Deployment, app: String, isDevelopment: Bool = false,
        appCheck: AppCheckPolicies = .none, _ change: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> OAuthSettings {
        var shop = ClientDraft(id: "shop", kind: "web", app: app, name: ["en": "Example Shop"])
        shop.secretHashes = [Hexadecimal.encode(SHA256Digest.hash(shopSecret))]
        shop.scopes = ["openid", "profile", "email", "offline_access"]
        shop.redirectURIs = [shopURI]
        var desktop = ClientDraft(id: "desktop", kind: "native", app: app, name: ["en": "Example Desktop"])
        desktop.scopes = ["openid", "profile", "email"]
        desktop.redirectURIs = [desktopURI]
        var google = ClientDraft(id: "google", kind: "google_linking", app: app, name: ["en": "Google"])
        google.secretHashes = [Hexadecimal.encode(SHA256Digest.hash(googleSecret))]
        google.scopes = ["openid", "email", "devices"]
        google.projectID = "home-link-42"
        google.googleClientIDs = [googleClientID]
        google.appFlip = true
        var draft = OAuthDraft(
            scopes: [ScopeDraft(name: "devices", text: ["en": "Control your devices"], isOptional: true)],
            clients: [shop, desktop, google])
        change(&draft)
        let context = OAuthContext(
            isDevelopment: isDevelopment, publicURL: issuer, deployment: deployment,
            appsWithWebSignIn: Set(deployment.apps.map(\.primaryClientID)), appCheck: appCheck)
        switch OAuthSettings.check(draft, in: context) {
        case .usable(let settings): return settings
        case .none: throw Unusable(mistakes: [])
        case .refused(let mistakes): throw Unusable(mistakes: mistakes)
        }
    }
}
