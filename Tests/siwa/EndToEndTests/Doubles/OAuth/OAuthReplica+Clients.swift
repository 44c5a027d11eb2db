import Encodings
import StrictJSON

/// The requests of Google and the app's backend in App Flip, which needs no browser.
extension OAuthReplica {
    /// Identity of the user who agreed in the app.
    enum Identity: Sendable {
        case token(String)
        case account(String)

        fileprivate var member: (String, JSONValue) {
            switch self {
            case .token(let token): ("identity_token", .string(token))
            case .account(let id): ("account_id", .string(id))
            }
        }
    }

    struct Link: Sendable {
        let accessToken: String
        let refreshToken: String
    }

    /// Gets the code that the app passes to Google.
    func flip(_ identity: Identity) async throws -> String {
        let response = try await flipAnswer(identity)
        guard response["outcome"]?.string == "code",
            let code = Self.parameter("code", of: response["redirect_to"]?.string)
        else { throw NoCode(description: "App Flip: \(response.status) \(response.text)") }
        return code
    }

    func flipAnswer(_ identity: Identity) async throws -> Backend.Response {
        try await backend.post(
            "/v1/oauth/app-flip",
            [
                ("client_id", .string(LinkedClients.google)), ("decision", .string("granted")),
                ("redirect_uri", .string(LinkedClients.appFlipURI)), ("state", .string("s-1")),
                ("scope", .string(LinkedClients.googleScopes.joined(separator: " "))), identity.member,
            ])
    }

    struct NoCode: Error, CustomStringConvertible {
        let description: String
    }

    static func parameter(_ name: String, of url: String?) -> String? {
        guard let url, let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else {
            return nil
        }
        return FormEncoding.decode(query.utf8)?.first { $0.name == name }?.value
    }

    /// Redeems a code as Google.
    func redeem(_ code: String) async throws -> Response {
        try await token(
            Self.googleCredentials + [
                ("grant_type", "authorization_code"), ("code", code),
                ("redirect_uri", LinkedClients.appFlipURI),
            ])
    }

    /// Refreshes as Google, which does not rotate the token.
    func refresh(_ refreshToken: String) async throws -> Response {
        try await token(
            Self.googleCredentials + [("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    func revoke(_ token: String) async throws -> Response {
        try await post("/oauth/revoke", Self.googleCredentials + [("token", token)])
    }

    static let googleCredentials: Fields = [
        ("client_id", LinkedClients.google), ("client_secret", LinkedClients.googleSecret),
    ]

    /// Makes a new link from an identity token.
    func link(_ identity: Identity) async throws -> Link {
        try await Self.link(of: redeem(flip(identity)))
    }

    static func link(of response: Response) throws -> Link {
        guard response.status == 200, let access = response["access_token"],
            let refresh = response["refresh_token"]
        else { throw Unexpected("token request", response) }
        return Link(accessToken: access, refreshToken: refresh)
    }
}

/// The requests of a native app after it has received its code.
extension OAuthReplica {
    static let phoneVerifier = "a-verifier-of-the-phone-with-at-least-43-characters"

    func redeem(_ code: String, phone: String) async throws -> Response {
        try await token([
            ("grant_type", "authorization_code"), ("client_id", phone), ("code", code),
            ("redirect_uri", LinkedClients.phoneURI), ("code_verifier", Self.phoneVerifier),
        ])
    }

    /// Refreshes, which rotates the refresh token.
    func refresh(_ refreshToken: String, phone: String) async throws -> Response {
        try await token([
            ("grant_type", "refresh_token"), ("client_id", phone), ("refresh_token", refreshToken),
        ])
    }
}

/// The requests of the app's backend about grants.
extension OAuthReplica {
    func grants(of account: String) async throws -> [JSONValue] {
        try await backend.get("/v1/accounts/\(account)/grants")["grants"]?.array ?? []
    }

    /// Ends a grant, as the user does in the app.
    func unlink(_ grant: JSONValue, of account: String) async throws -> Backend.Response {
        try await backend.delete("/v1/accounts/\(account)/grants/\(grant["id"]?.string ?? "")")
    }
}
