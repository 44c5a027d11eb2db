import Cryptography
import Encodings

/// The OAuth clients of `LinkedSystem`.
enum LinkedClients {
    static let google = "google"
    static let googleSecret = "the secret that was typed into Google's console"
    static let googleScopes = ["openid", "email"]
    static let googleClientID = "123-test.apps.googleusercontent.com"
    static let appFlipURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
    static let web = "shop"
    static let webSecret = "the secret of the shop"
    static let webURI = "https://shop.example.com/back"
    /// Native apps, enough to reach the limit of an account.
    static let phones = (1...6).map { "phone-\($0)" }
    static let phoneURI = "com.example.app:/back"

    static let configuration = """
        oauth:
          clients:
            - id: \(google)
              kind: google_linking
              app: \(LinkedSystem.clientID)
              name: Google
              secret_hashes: [\(hash(googleSecret))]
              scopes: [\(googleScopes.joined(separator: ", "))]
              project_id: test-project
              app_flip: true
              google_client_ids: [\(googleClientID)]
            - id: \(web)
              kind: web
              app: \(LinkedSystem.clientID)
              name: Shop
              secret_hashes: [\(hash(webSecret))]
              scopes: [openid, offline_access]
              redirect_uris: ["\(webURI)"]

        """ + phones.map(phone).joined()

    private static func phone(_ id: String) -> String {
        """
            - id: \(id)
              kind: native
              app: \(LinkedSystem.clientID)
              name: Phone
              platform: ios
              scopes: [openid, offline_access]
              redirect_uris: ["\(phoneURI)"]

        """
    }

    private static func hash(_ secret: String) -> String { Hexadecimal.encode(SHA256Digest.hash(secret)) }
}
