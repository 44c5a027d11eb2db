import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import StorageConformance

extension OAuthContext {
    /// A production deployment with one app that can sign in on the web, and one that cannot.
    static func sample(
        isDevelopment: Bool = false, publicURL: String? = "https://accounts.example.com",
        languages: PageLanguages = .builtIn
    ) throws -> OAuthContext {
        OAuthContext(
            isDevelopment: isDevelopment, publicURL: publicURL,
            deployment: try Deployment(apps: [
                App(
                    team: "A1B2C3D4E5", primaryClientID: "com.example.app",
                    otherClientIDs: ["com.example.web"]),
                App(team: "A1B2C3D4E5", primaryClientID: "com.example.other"),
            ]),
            appsWithWebSignIn: ["com.example.app"],
            appCheck: AppCheckPolicies(
                [AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app")].compactMap { $0 }.map {
                    AppCheckPolicy(
                        target: .app(bundleID: $0.bundleID), appID: $0, platform: .iOS, mode: .off,
                        environment: .development, firstAttestingVersion: AppVersion("4.2"))
                }),
            logos: ["logo.svg": Array("<svg/>".utf8), "no-picture": [1, 2, 3]],
            languages: languages)
    }
}

extension OAuthDraft {
    /// One client of each kind, and one declared scope.
    static func sample(_ change: (inout OAuthDraft) -> Void = { _ in }) -> OAuthDraft {
        var draft = OAuthDraft(
            scopes: [ScopeDraft(name: "devices", text: ["en": "Control your devices"], isOptional: true)],
            clients: [.sample(), .nativeSample(), .googleSample()])
        change(&draft)
        return draft
    }
}

extension OAuthSettings {
    /// The settings of a draft that must have no mistake.
    static func sample(_ draft: OAuthDraft = .sample(), isDevelopment: Bool = false) throws -> OAuthSettings {
        switch check(draft, in: try .sample(isDevelopment: isDevelopment)) {
        case .usable(let settings): return settings
        case .none: throw UnusableSample(mistakes: [])
        case .refused(let mistakes): throw UnusableSample(mistakes: mistakes)
        }
    }

    struct UnusableSample: Error {
        let mistakes: [OAuthMistake]
    }
}

extension ClientDraft {
    /// A web client that passes all checks.
    static func sample(_ change: (inout ClientDraft) -> Void = { _ in }) -> ClientDraft {
        var draft = ClientDraft(id: "shop", kind: "web", app: "com.example.app", name: ["en": "Example Shop"])
        draft.secretHashes = [Self.hash(of: "shop-secret")]
        draft.scopes = ["openid", "profile", "email", "offline_access"]
        draft.redirectURIs = ["https://shop.example.com/cb"]
        change(&draft)
        return draft
    }

    /// An installed app on a desktop.
    static func nativeSample(_ change: (inout ClientDraft) -> Void = { _ in }) -> ClientDraft {
        var draft = ClientDraft(
            id: "desktop", kind: "native", app: "com.example.app", name: ["en": "Example Desktop"])
        draft.scopes = ["openid", "profile", "email", "offline_access"]
        draft.redirectURIs = ["com.example.app:/oauth2redirect", "http://127.0.0.1", "http://[::1]/cb"]
        change(&draft)
        return draft
    }

    /// Google, with App Flip.
    static func googleSample(_ change: (inout ClientDraft) -> Void = { _ in }) -> ClientDraft {
        var draft = ClientDraft(
            id: "google", kind: "google_linking", app: "com.example.app", name: ["en": "Google"])
        draft.secretHashes = [Self.hash(of: "google-secret")]
        draft.scopes = ["openid", "profile", "email", "devices"]
        draft.projectID = "home-link-42"
        draft.googleClientIDs = ["123-abc.apps.googleusercontent.com"]
        draft.appFlip = true
        change(&draft)
        return draft
    }

    static func hash(of secret: String) -> String {
        SHA256Digest.hash(secret).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
