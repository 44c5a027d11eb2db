/// An authorization code that has not been exchanged yet.
struct IssuedCode: Equatable, Codable {
    let authorization: Authorization
    /// The redirect URI of the web flow; `nil` for a native app.
    let redirectURI: String?
    /// Milliseconds since 1970.
    let issuedAt: Int64
}
