/// What a client has beside its kind and its redirect URIs depend on. Read by `OAuthCheck`.
struct ClientParticulars {
    var googleLinking: GoogleLinking?
    var platform: NativePlatform?
}
