import NIOHTTP1
import StrictJSON

/// The requests of OAuth clients and APIs to a process of the service.
extension ServiceProcess {
    typealias Response = TestClient.Response

    /// The answer was not the expected one.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ answer: Response) {
            description = "\(what): \(answer.status) \(answer.location ?? "") \(answer.text)"
        }
    }

    func send(
        _ method: HTTPMethod, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Response {
        try await TestClient.send(method, url + target, headers: headers, body: body)
    }

    func token(_ fields: TestClient.Fields) async throws -> Response {
        try await TestClient.send(.POST, "\(url)/oauth/token", form: fields)
    }

    /// Introspects a token as the app's API does.
    func introspect(_ token: String) async throws -> Response {
        let answer = try await TestClient.send(
            .POST, "\(url)/oauth/introspect", form: [("token", token)], bearer: Backend.secret)
        guard answer.status == 200 else { throw Unexpected("introspection", answer) }
        return answer
    }

    func isActive(_ token: String) async throws -> Bool {
        try await introspect(token)["active"]?.bool ?? false
    }
}

/// The requests of Google and the app's backend in App Flip, which needs no browser.
extension ServiceProcess {
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

    /// The tokens of a client.
    struct Link: Sendable {
        let accessToken: String
        let refreshToken: String

        init(_ response: Response) throws {
            guard response.status == 200, let access = response["access_token"]?.string,
                let refresh = response["refresh_token"]?.string
            else { throw Unexpected("token request", response) }
            (accessToken, refreshToken) = (access, refresh)
        }
    }

    /// Gets the code that the app passes to Google.
    func flip(_ identity: Identity) async throws -> String {
        let response = try await flipAnswer(identity)
        guard response["outcome"] == "code",
            let code = TestClient.parameter("code", of: response["redirect_to"]?.string)
        else { throw Unexpected("App Flip", response) }
        return code
    }

    func flipAnswer(_ identity: Identity) async throws -> Response {
        try await backend.post(
            "/v1/oauth/app-flip",
            [
                ("client_id", .string(LinkedClients.google)), ("decision", "granted"),
                ("redirect_uri", .string(LinkedClients.appFlipURI)), ("state", "s-1"),
                ("scope", .string(LinkedClients.googleScopes.joined(separator: " "))), identity.member,
            ])
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
        try await TestClient.send(
            .POST, "\(url)/oauth/revoke", form: Self.googleCredentials + [("token", token)])
    }

    static let googleCredentials: TestClient.Fields = [
        ("client_id", LinkedClients.google), ("client_secret", LinkedClients.googleSecret),
    ]

    /// Makes a new link from an identity token.
    func link(_ identity: Identity) async throws -> Link { try Link(await redeem(flip(identity))) }
}

/// The requests of a native app after it has received its code.
extension ServiceProcess {
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
extension ServiceProcess {
    func grants(of account: String) async throws -> [JSONValue] {
        try await backend.get("/v1/accounts/\(account)/grants")["grants"]?.array ?? []
    }

    /// Ends a grant, as the user does in the app.
    func unlink(_ grant: JSONValue, of account: String) async throws -> Response {
        try await backend.delete("/v1/accounts/\(account)/grants/\(grant["id"]?.string ?? "")")
    }
}
