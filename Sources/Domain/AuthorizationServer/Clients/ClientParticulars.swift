/// The data of a client that its redirect URIs depend on, beside its kind. Read by `OAuthCheck`.
struct ClientParticulars {
    var googleLinking: GoogleLinking?
    var platform: NativePlatform?
}
