public import Cryptography
import Encodings

/// A request to `/oauth/token` of an authenticated client. Its codes and tokens have not been looked up yet.
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

    /// A redemption of a code (RFC 6749 §4.1.3). An absent parameter counts as wrong, and
    /// is `invalid_grant` like every fault of a code.
    public struct CodeGrant: Sendable, Confidential {
        public let code: String
        public let redirectURI: String?
        public let codeVerifier: String?
    }

    /// A refresh (RFC 6749 §6).
    public struct RefreshGrant: Sendable, Confidential {
        public let refreshToken: String
        /// A part of the refresh token's scopes. `nil` means the whole scope.
        public let scope: ScopeSet?
    }

    /// An assertion (RFC 7523 §2.1) of Google's streamlined linking.
    public struct AssertionGrant: Sendable, Confidential {
        public let assertion: String
        public let intent: Intent
        /// Requested scope. `nil` means all scopes of the client.
        public let scope: ScopeSet?
    }

    /// A token exchange (RFC 8693 §2.1) with the members of `POST /v1/sign-ins`.
    public struct ExchangeGrant: Sendable, Confidential {
        /// Apple's identity token.
        public let subjectToken: String
        /// The nonce of this service whose digest is in the identity token.
        public let nonce: String
        /// Apple's code, which came with the identity token.
        public let authorizationCode: String?
        /// Apple's object with the name of the user, as JSON text.
        public let user: String?
        /// Requested scope. `nil` means all scopes of the client.
        public let scope: ScopeSet?
    }

    /// A poll of a device (RFC 8628 §3.4).
    public struct DeviceGrant: Sendable, Confidential {
        public let deviceCode: String
    }

    /// The request of Google: the existence of an account, or tokens.
    public enum Intent: String, Sendable, Hashable, CaseIterable {
        /// Queries the existence of an account.
        case check
        /// Requests tokens for the existing account.
        case get
        /// Requests a new account, and tokens for it.
        case create
    }
}

extension TokenRequest.ExchangeGrant {
    /// Reads the parameters of RFC 8693 §2.1, and the parameters of a sign-in with Apple.
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
        // No client acts for another party. A client that sends an actor expects a claim `act` in its token.
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

/// A kind of token in a token exchange (RFC 8693 §3).
public enum TokenTypeIdentifier: String, Sendable, CaseIterable {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    /// Apple's identity token, which is an ID token of OpenID Connect.
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
}

/// A well-formed request to `/oauth/token`. The client is not authenticated.
public struct UnauthenticatedTokenRequest: ClientFormRequest {
    public let form: ClientForm
    /// The grant type that the request names; `nil` for an unknown grant type.
    public var grantType: GrantType? { GrantType.named(in: form.reader) }

    public init(_ form: ClientForm) { self.form = form }

    /// Checks the client, and then its parameters.
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

/// Statements of a token request about its app. They are not verified, and
/// no value of them makes the request malformed.
public struct AppProofParameters: Sendable, Confidential {
    /// The proof of App Attest; `nil` when the request has none of its parameters.
    public let proof: Proof?
    public let appVersion: String?

    public struct Proof: Sendable, Confidential {
        public let keyID: String?
        public let assertion: String?
        public let clientData: String?
        /// SHA-256 of all other parameters in their canonical form. `nil` when a parameter cannot be decoded.
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

/// The rule of RFC 8707 §2: a client can request tokens only for its own audience.
struct ResourceCheck {
    let audience: String

    /// Checks every `resource`: RFC 8707 allows several.
    func check(_ parameters: FormParameters) throws(OAuthError) {
        let resources = parameters.all(RequestParameter.resource.rawValue)
        guard resources.allSatisfy({ $0?.isByteEqual(to: audience) ?? false }) else {
            throw OAuthError(
                .invalidTarget, "The resource must be the audience of this client; leave resource out.")
        }
    }
}
