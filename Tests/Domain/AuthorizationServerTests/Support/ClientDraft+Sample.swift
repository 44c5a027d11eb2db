import AuthorizationServer
import Cryptography

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
