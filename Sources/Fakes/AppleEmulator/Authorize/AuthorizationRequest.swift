import EmulatorServer
import Encodings

/// A valid request to `/auth/authorize`. Apple would show its page for it (Apple, "Request an authorization
/// to the Sign in with Apple server").
struct AuthorizationRequest: Equatable, Codable {
    /// Maximum parameter length in bytes. It limits the memory per open page. A service without storage puts
    /// its own sealed request into `state`, and many proxies limit a request line to 8 KiB.
    private static let longestText = 8192

    let clientID: String
    let redirectURI: String
    let responseMode: ResponseMode
    /// True if `response_type` contains `id_token`. A code is always issued.
    let wantsIdentityToken: Bool
    let state: String?
    let nonce: String?
    let wantsName: Bool
    let wantsEmail: Bool
    /// Time when the page was opened, in milliseconds since 1970.
    let openedAt: Int64

    /// Reads a request. Throws the error that Apple's page would show. A refused request sends nothing to its
    /// redirect URI.
    init(_ query: FormFields, apps: [EmulatedApp], now: Int64) throws(OAuthError) {
        let clientID = try query.require("client_id")
        guard let app = apps.first(where: { $0.clientIDs.contains(where: clientID.isByteEqual(to:)) }) else {
            throw OAuthError(.invalidClient, "client_id is unknown")
        }
        guard app.isServicesID(clientID) else {
            throw OAuthError(
                .invalidClient,
                "client_id is a bundle ID; sign-in on the web needs a Services ID, configured after the bundle ID"
            )
        }
        let redirectURI = try query.require("redirect_uri")
        guard app.redirectURIs.contains(where: redirectURI.isByteEqual(to:)) else {
            throw OAuthError(.invalidRequest, "redirect_uri is not registered for this client_id")
        }
        let types = try query.require("response_type").split(separator: " ")
        guard types.contains("code"), types.allSatisfy({ $0 == "code" || $0 == "id_token" }) else {
            throw OAuthError(.invalidRequest, "response_type must be code, or code id_token")
        }
        let scopes = (query["scope"] ?? "").split(separator: " ")
        guard scopes.allSatisfy({ ["name", "email", "openid"].contains($0) }) else {
            throw OAuthError(.invalidScope, "scope must be name, email, or both")
        }
        let mode = try Self.mode(query["response_mode"])
        (wantsName, wantsEmail) = (scopes.contains("name"), scopes.contains("email"))
        wantsIdentityToken = types.contains("id_token")
        guard mode == .formPost || !(wantsName || wantsEmail) else {
            throw OAuthError(.invalidRequest, "response_mode must be form_post when scope is set")
        }
        guard mode != .query || !wantsIdentityToken else {
            throw OAuthError(.invalidRequest, "response_mode query cannot carry an id_token")
        }
        (state, nonce) = (query["state"], query["nonce"])
        guard [state, nonce].allSatisfy({ $0?.utf8.count ?? 0 <= Self.longestText }) else {
            throw OAuthError(.invalidRequest, "state and nonce must have at most \(Self.longestText) bytes")
        }
        (self.clientID, self.redirectURI, responseMode) = (clientID, redirectURI, mode)
        openedAt = now
    }

    private static func mode(_ text: String?) throws(OAuthError) -> ResponseMode {
        guard let text else { return .query }
        guard let mode = ResponseMode(rawValue: text) else {
            throw OAuthError(.invalidRequest, "response_mode must be form_post, query or fragment")
        }
        return mode
    }
}

/// The way that the `/auth/authorize` response reaches the redirect URI.
enum ResponseMode: String, CaseIterable, Codable {
    /// The browser posts a form (OAuth 2.0 Form Post Response Mode).
    case formPost = "form_post"
    case query
    case fragment
}

/// The response that the browser sends to the redirect URI (RFC 6749 §4.1.2).
struct AuthorizationResponse {
    let redirectURI: String
    let mode: ResponseMode
    let fields: [(name: String, value: String)]

    init(to request: AuthorizationRequest, _ fields: [(String, String?)]) {
        (redirectURI, mode) = (request.redirectURI, request.responseMode)
        self.fields = (fields + [("state", request.state)]).compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    /// The redirect URI, with the fields in its query or fragment.
    var location: String {
        let text = fields.map { "\($0.name)=\(Self.escape($0.value))" }.joined(separator: "&")
        let separator = mode == .fragment ? "#" : redirectURI.contains("?") ? "&" : "?"
        return redirectURI + separator + text
    }

    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            ControlInput.isUnreserved(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte]).uppercased()
        }.joined()
    }
}
