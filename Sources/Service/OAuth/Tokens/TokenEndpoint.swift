import AppAttestation
import AppleAccounts
public import AuthorizationServer
import Cryptography
import SignIn
public import StrictJSON

/// `POST /oauth/token` (RFC 6749 §3.2): one type for each grant type.
public struct TokenEndpoint: Sendable {
    /// The response to a request.
    public enum Response: Sendable {
        case tokens(TokenResponse)
        /// Google's streamlined linking without tokens.
        case linking(LinkingResponse)
    }

    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `KeySetError`, `SigningKeysShut`, `JOSEError`.
    public func response(_ request: TokenRequest) async throws -> Response {
        // First, so that no proof, code or token is used up in a request that gets nothing, and can be repeated.
        try await TokenMaker(server: server).requireKeys(for: request)
        try await ClientAppCheck(server: server).check(request)
        return switch request.grant {
        case .authorizationCode(let grant):
            .tokens(try await CodeRedemption(server: server).tokens(for: grant, of: request.client))
        case .refreshToken(let grant):
            .tokens(try await TokenRefresh(server: server).tokens(for: grant, of: request.client))
        case .assertion(let grant):
            try await AssertionGrant(server: server).response(grant, of: request.client)
        case .exchange(let grant):
            .tokens(try await TokenExchange(server: server).tokens(for: grant, of: request.client))
        case .device(let grant):
            .tokens(try await DevicePoll(server: server).tokens(for: grant, of: request.client))
        }
    }
}

/// A successful token response (RFC 6749 §5.1).
public struct TokenResponse: Sendable {
    public let accessToken: String
    /// Seconds.
    public let expiresIn: Int64
    /// `nil` when the client gets no refresh token, or keeps its current token.
    public let refreshToken: String?
    /// Space-separated.
    public let scope: String
    public let idToken: String?
    /// `nil` except in the response to a token exchange (RFC 8693 §2.2.1).
    public var issuedTokenType: TokenTypeIdentifier?
    /// The names of values of the identity token and of `user` that were dropped, in the response to a token
    /// exchange: a member of ours (RFC 6749 §5.1: a client ignores members that it does not know).
    public var dropped: [String] = []

    /// Writes the JSON document.
    public func write(into json: inout JSONWriter) {
        json.beginObject()
        json.member("access_token", accessToken)
        json.member("issued_token_type", ifPresent: issuedTokenType?.rawValue)
        json.member("token_type", "Bearer")
        json.member("expires_in", expiresIn)
        json.member("refresh_token", ifPresent: refreshToken)
        json.member("scope", scope)
        json.member("id_token", ifPresent: idToken)
        json.member("dropped", ifAny: dropped)
        json.endObject()
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    /// A description without the tokens.
    public var description: String { "token response" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// App Check of a native client: judges the app of a token request. The proof vouches for all other parameters
/// of the request, so that it cannot move to another request.
struct ClientAppCheck: Sendable {
    let server: OAuthServer

    /// Uses the proof up, before the grant is looked at: a request that is refused here changes no code and no
    /// token.
    ///
    /// - Throws: `OAuthError` `invalid_client` in enforced mode; `StorageError`, `OverloadedError`.
    func check(_ request: TokenRequest) async throws {
        guard let checks = server.dependencies.signIn.appChecks,
            let policy = checks.policies.ofOAuthClient(request.client.id.rawValue)
        else { return }
        let proof = request.app.proof
        let evidence = AppEvidence(
            proof: proof.map { proof in
                guard proof.requestDigest != nil else { return .malformed }
                return PostedProof(
                    keyID: proof.keyID, assertion: proof.assertion, clientData: proof.clientData)
            }, appVersion: request.app.appVersion)
        do {
            _ = try await checks.check(
                evidence, by: policy,
                vouchingFor: proof?.requestDigest ?? SHA256Digest.hash(""))
        } catch let refusal as AppCheckRefusal {
            throw OAuthError(refusal)
        }
    }
}
