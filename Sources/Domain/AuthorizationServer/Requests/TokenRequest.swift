public import Cryptography
import Encodings

/// A request to `/oauth/token` from an authenticated client. Its codes and tokens have not been looked up
/// yet.
public struct TokenRequest: Sendable {
    public let client: OAuthClient
    public let grantType: GrantType
    public let grant: Grant
    public let app: AppProofParameters

    public enum Grant: Sendable {
        case authorizationCode(CodeGrant)
        case refreshToken(RefreshGrant)
        case assertion(AssertionGrant)
        case exchange(ExchangeGrant)
        case device(DeviceGrant)
    }

    /// The redemption of a code (RFC 6749 §4.1.3). A missing parameter is treated like a wrong parameter: the
    /// error is `invalid_grant`, as for every fault in a code.
    public struct CodeGrant: Sendable, Confidential {
        public let code: String
        public let redirectURI: String?
        public let codeVerifier: String?
    }

    /// The use of a refresh token (RFC 6749 §6).
    public struct RefreshGrant: Sendable, Confidential {
        public let refreshToken: String
        /// The requested part of the refresh token's scope. `nil` means the whole scope.
        public let scope: ScopeSet?
    }

    /// An assertion (RFC 7523 §2.1) of Google's streamlined linking.
    public struct AssertionGrant: Sendable, Confidential {
        public let assertion: String
        public let intent: Intent
        /// The requested scope. `nil` means all of the client's scopes.
        public let scope: ScopeSet?
    }

    /// A token exchange (RFC 8693 §2.1) with the members of `POST /v1/sign-ins`.
    public struct ExchangeGrant: Sendable, Confidential {
        /// Apple's identity token.
        public let subjectToken: String
        /// The nonce that this service issued. The identity token contains its digest.
        public let nonce: String
        /// Apple's authorization code, which the app received with the identity token.
        public let authorizationCode: String?
        /// Apple's object with the user's name, as JSON text.
        public let user: String?
        /// The requested scope. `nil` means all of the client's scopes.
        public let scope: ScopeSet?
    }

    /// A device's poll (RFC 8628 §3.4).
    public struct DeviceGrant: Sendable, Confidential {
        public let deviceCode: String
    }

    /// Purpose of a Google request: to find an account, or to get tokens.
    public enum Intent: String, Sendable, Hashable, CaseIterable {
        /// Asks whether an account exists.
        case check
        /// Requests tokens for an existing account.
        case get
        /// Requests a new account, and tokens for it.
        case create
    }
}

extension TokenRequest.ExchangeGrant {
    /// Reads the token exchange parameters (RFC 8693 §2.1) and the parameters of a sign-in with Apple.
    init(_ parameters: TokenParameters) throws(OAuthError) {
        let reader = parameters.reader
        subjectToken = try reader.required(.subjectToken)
        guard try reader.required(.subjectTokenType) == TokenTypeIdentifier.idToken.rawValue else {
            throw reader.refusal(.subjectTokenType, "must be \(TokenTypeIdentifier.idToken.rawValue)")
        }
        if let requested = try reader.text(.requestedTokenType),
            requested != TokenTypeIdentifier.accessToken.rawValue
        {
            throw reader.refusal(
                .requestedTokenType,
                "must be \(TokenTypeIdentifier.accessToken.rawValue) or absent")
        }
        // Delegation is not supported, so an actor is refused: a client that sends one expects an `act` claim
        // in its token.
        for parameter in [RequestParameter.actorToken, .actorTokenType]
        where reader.parameters[parameter.rawValue] != .absent {
            throw reader.refusal(parameter, "is not supported; leave it out")
        }
        let audiences = reader.parameters.all(RequestParameter.audience.rawValue)
        guard audiences.allSatisfy({ $0?.isByteEqual(to: parameters.client.audience) ?? false }) else {
            throw OAuthError(
                .invalidTarget, "The audience must be the audience of this client; leave audience out.")
        }
        nonce = try reader.required(.nonce)
        authorizationCode = try reader.text(.authorizationCode)
        user = try reader.text(.user)
        scope = try parameters.scope()
    }
}

/// A token type for token exchange (RFC 8693 §3).
public enum TokenTypeIdentifier: String, Sendable, CaseIterable {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    /// Apple's identity token, which is an OpenID Connect ID token.
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
}

/// A well-formed request to `/oauth/token`. The client is not authenticated yet.
public struct UnauthenticatedTokenRequest: ClientFormRequest {
    public let form: ClientForm
    /// The grant type named in the request. `nil` if it is unknown.
    public var grantType: GrantType? { GrantType.named(in: form.reader) }

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client, and then checks the request's parameters.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> TokenRequest {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        do throws(OAuthError) {
            let (type, grant) = try GrantType.read(TokenParameters(reader: form.reader, client: client))
            try ResourceCheck(audience: client.audience).check(form.reader.parameters)
            return TokenRequest(
                client: client, grantType: type, grant: grant, app: AppProofParameters(form.reader))
        } catch {
            throw TokenEndpointError(error)
        }
    }
}

/// A token request's claims about its app. They are unverified, and no value makes the request malformed.
public struct AppProofParameters: Sendable, Confidential {
    /// The App Attest proof. `nil` if the request has no proof parameters at all.
    public let proof: Proof?
    public let appVersion: String?

    public struct Proof: Sendable, Confidential {
        public let keyID: String?
        public let assertion: String?
        public let clientData: String?
        /// SHA-256 of all other parameters in canonical form. `nil` if a parameter cannot be decoded.
        public let requestDigest: SHA256Digest?
    }

    private static let parameters: [RequestParameter] = [
        .attestationKeyID, .attestationAssertion, .attestationClientData,
    ]

    init(_ reader: ParameterReader) {
        func text(_ parameter: RequestParameter) -> String? { (try? reader.hint(parameter)) ?? nil }
        appVersion = text(.appVersion)
        let isPresent = Self.parameters.contains { reader.parameters[$0.rawValue] != .absent }
        guard isPresent else {
            proof = nil
            return
        }
        proof = Proof(
            keyID: text(.attestationKeyID), assertion: text(.attestationAssertion),
            clientData: text(.attestationClientData),
            requestDigest: reader.parameters.canonicalText(without: Self.parameters)
                .map { SHA256Digest.hash($0) })
    }
}

/// Applies RFC 8707 §2: a client may request tokens only for its own audience.
struct ResourceCheck {
    let audience: String

    /// Checks all `resource` parameters, because RFC 8707 allows several.
    func check(_ parameters: FormParameters) throws(OAuthError) {
        let resources = parameters.all(RequestParameter.resource.rawValue)
        guard resources.allSatisfy({ $0?.isByteEqual(to: audience) ?? false }) else {
            throw OAuthError(
                .invalidTarget, "The resource must be the audience of this client; leave resource out.")
        }
    }
}
