import AppAttestation
import AppleAccounts
import AuthorizationServer
import Composition
import Cryptography
import Encodings

/// The OAuth clients of `siwa dev`: the fake Google, a web application, and native apps on this machine.
///
/// Their secrets are the same in every run, so that copied commands work again. The secrets protect nothing:
/// the service listens on this machine only, and the fake Apple beside it signs tokens for every caller.
struct DevelopmentClients {
    static let google = "google"
    static let googleSecret = "siwa_development_google"
    static let googleProject = "siwa-dev"
    /// Value of `aud` in the fake Google's own tokens.
    static let googleClientID = "123-siwa-dev.apps.googleusercontent.com"
    static let web = "siwa-web"
    static let webSecret = "siwa_development_web"
    static let native = "siwa-cli"
    /// The app on the phone, which signs users in without a browser.
    static let phone = "siwa-phone"
    /// The app's own scope, which users may deny.
    static let ownScope = "devices.control"
    static let scopes = ["openid", "email", "profile", ownScope]

    /// The primary client ID of the app.
    let app: ClientID
    /// App Check configuration of the app.
    let appCheck: AppCheckPolicies
    /// Redirect URIs of the fake Google.
    let googleRedirectURIs: [String]
    /// URL of the fake Apple's page that shows the request that it receives.
    let site: String

    /// Returns the OAuth settings. Throws `ConfigurationMistakes`.
    func settings(publicURL: String, deployment: Deployment) throws -> OAuthSettings? {
        let context = OAuthContext(
            isDevelopment: true, publicURL: publicURL, deployment: deployment, appsWithWebSignIn: [app],
            appCheck: appCheck)
        switch OAuthSettings.check(draft, in: context) {
        case .none: return nil
        case .usable(let settings): return settings
        case .refused(let found):
            var mistakes = ConfigurationMistakes()
            for mistake in found { mistakes.add(mistake.setting, mistake.text) }
            throw mistakes
        }
    }

    private var draft: OAuthDraft {
        let control = ScopeDraft(
            name: Self.ownScope,
            text: [
                "en": "Control your devices", "ar": "التحكم في أجهزتك", "tr": "Cihazlarınızı kontrol etme",
                "pl": "Sterowanie Twoimi urządzeniami",
            ], isOptional: true)
        var draft = OAuthDraft(
            scopes: [control], clients: [googleClient, webClient, nativeClient, phoneClient])
        draft.appNames = [app.rawValue: ["en": "Example"]]
        return draft
    }

    private var googleClient: ClientDraft {
        var client = ClientDraft(
            id: Self.google, kind: "google_linking", app: app.rawValue, name: ["en": "Google"])
        client.secretHashes = [Self.hash(Self.googleSecret)]
        client.scopes = Self.scopes
        client.projectID = Self.googleProject
        client.googleClientIDs = [Self.googleClientID]
        client.appFlip = true
        // Redirects to Google's own hosts would not reach the fake Google.
        client.appFlipTestRedirectURIs = googleRedirectURIs
        return client
    }

    private var webClient: ClientDraft {
        var client = ClientDraft(
            id: Self.web, kind: "web", app: app.rawValue, name: ["en": "Example on the web"])
        client.secretHashes = [Self.hash(Self.webSecret)]
        client.events = ClientEvents.Delivery.poll.rawValue
        client.scopes = Self.scopes + ["offline_access"]
        // The port of `site` may differ here (RFC 8252 §7.3), but not after a sign-out.
        client.redirectURIs = ["http://127.0.0.1/site"]
        client.postLogoutRedirectURIs = [site]
        return client
    }

    private var nativeClient: ClientDraft {
        var client = ClientDraft(
            id: Self.native, kind: "native", app: app.rawValue, name: ["en": "Example for desktops"])
        client.scopes = Self.scopes + ["offline_access"]
        client.redirectURIs = ["http://127.0.0.1", "http://[::1]"]
        client.allowsDeviceGrant = true
        return client
    }

    private var phoneClient: ClientDraft {
        var client = ClientDraft(
            id: Self.phone, kind: "native", app: app.rawValue, name: ["en": "Example for phones"])
        client.isFirstParty = true
        client.allowsNativeSignIn = true
        // The app's own entry is in `DevelopmentSettings`. A client ID that is not a bundle ID has no entry.
        client.appCheck = appCheck.ofApp(app.rawValue)?.mode.rawValue
        client.scopes = Self.scopes + ["offline_access"]
        client.platform = "ios"
        return client
    }

    private static func hash(_ secret: String) -> String { Hexadecimal.encode(SHA256Digest.hash(secret)) }
}
