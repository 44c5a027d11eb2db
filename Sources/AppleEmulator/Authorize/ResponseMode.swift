/// How the response of `/auth/authorize` is sent to the redirect URI.
enum ResponseMode: String, CaseIterable, Codable {
    /// The browser posts a form (OAuth 2.0 Form Post Response Mode).
    case formPost = "form_post"
    case query
    case fragment
}
