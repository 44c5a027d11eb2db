/// What a code and the tokens that come from it remember of the sign-in that they stem from.
struct Authorization: Equatable, Codable {
    let consent: Consent
    /// The client ID that the code was issued to. No other may use it.
    let clientID: String
    let nonce: String?
    /// `auth_time`, seconds since 1970.
    let authenticatedAt: Int64
    /// Whether the person signed in on a web page; `nil` in a state file that does not say.
    var isFromWeb: Bool?
}
