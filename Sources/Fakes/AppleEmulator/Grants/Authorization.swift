/// The sign-in from which a code and its tokens come.
struct Authorization: Equatable, Codable {
    let consent: Consent
    /// The client ID to which the code was issued. No other client ID may use the code.
    let clientID: String
    let nonce: String?
    /// `auth_time`, seconds since 1970.
    let authenticatedAt: Int64
    /// True if the user signed in on a web page; `nil` in an old state file.
    var isFromWeb: Bool?
}

/// The consent of one user to one app. Codes and tokens belong to a consent and end with it.
struct Consent: Hashable, Codable {
    /// The position of the user in the directory.
    let position: Int
    /// The app's primary client ID.
    let app: String
}

/// An Apple code that has not been exchanged yet.
struct IssuedCode: Equatable, Codable {
    let authorization: Authorization
    /// The redirect URI of the web flow; `nil` for a native app.
    let redirectURI: String?
    /// Milliseconds since 1970.
    let issuedAt: Int64
}

/// An access token of a user. Apple accepts it only at `/auth/revoke`.
struct IssuedAccessToken: Equatable, Codable {
    let clientID: String
    /// Milliseconds since 1970.
    let issuedAt: Int64
}

/// An access token of a team, from the `client_credentials` grant, for `/auth/usermigrationinfo`.
struct MigrationToken: Equatable, Codable {
    let teamID: String
    let clientID: String
    /// Milliseconds since 1970.
    let issuedAt: Int64
}
