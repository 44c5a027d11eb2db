import AppAttestation
import AppleAccounts
import AuthorizationServer
import Composition
import Cryptography
import Encodings

/// The OAuth clients for `siwa dev`: the fake Google, a web application, and native apps on this machine.
///
/// Their secrets are the same in every run, so that copied commands work again. The secrets protect nothing,
/// because the service is reachable only on this machine, where the fake Apple signs tokens for every caller.
struct DevelopmentClients {
    static let google = "google"
    static let googleSecret = "siwa_development_google"
    static let googleProject = "siwa-dev"
    /// Value of `aud` in the ID tokens that the fake Google issues.
    static let googleClientID = "123-siwa-dev.apps.googleusercontent.com"
    static let web = "siwa-web"
    static let webSecret = "siwa_development_web"
    static let native = "siwa-cli"
    /// The phone app's client, which signs users in without a browser.
    static let phone = "siwa-phone"
    /// The app's own scope, which users may deny.
    static let ownScope = "devices.control"
    static let scopes = ["openid", "email", "profile", ownScope]

    /// The app's primary client ID.
    let app: ClientID
    /// The app's App Check configuration.
    let appCheck: AppCheckPolicies
    /// The fake Google's redirect URIs.
    let googleRedirectURIs: [String]
    /// URL of the fake Apple's page that shows the request it receives.
    let site: String

    /// Returns the OAuth settings. Throws `ConfigurationMistakes` if a client is invalid.
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
        // These are the fake Google's URIs, because redirects to Google's own hosts would not reach it.
        client.appFlipTestRedirectURIs = googleRedirectURIs
        return client
    }

    private var webClient: ClientDraft {
        var client = ClientDraft(
            id: Self.web, kind: "web", app: app.rawValue, name: ["en": "Example on the web"])
        client.secretHashes = [Self.hash(Self.webSecret)]
        client.events = ClientEvents.Delivery.poll.rawValue
        client.scopes = Self.scopes + ["offline_access"]
        // The port of `site` may vary here (RFC 8252 §7.3), but not in the redirect after a sign-out.
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
        // `DevelopmentSettings` has the app's own entry. A client ID that is not a bundle ID has no entry.
        client.appCheck = appCheck.ofApp(app.rawValue)?.mode.rawValue
        client.scopes = Self.scopes + ["offline_access"]
        client.platform = "ios"
        return client
    }

    private static func hash(_ secret: String) -> String { Hexadecimal.encode(SHA256Digest.hash(secret)) }
}
