/// The sign-in from which a code and its tokens come.
struct Authorization: Equatable, Codable {
    let consent: Consent
    /// The client ID to which the code was issued. No other may use it.
    let clientID: String
    let nonce: String?
    /// `auth_time`, seconds since 1970.
    let authenticatedAt: Int64
    /// Whether the user signed in on a web page; `nil` in an old state file.
    var isFromWeb: Bool?
}
