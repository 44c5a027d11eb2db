import AppAttestation
import AppleAccounts
public import AuthorizationServer
public import Commits
import Cryptography
import SignIn
public import StrictJSON

/// Handles `POST /oauth/token` (RFC 6749 §3.2). A separate type implements each grant type.
public struct TokenEndpoint: Sendable {
    /// The response to a token request.
    public enum Response: Sendable {
        case tokens(TokenResponse)
        /// A streamlined-linking response to Google without tokens.
        case linking(LinkingResponse)
    }

    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Responds to a token request. Waits only for the commit, for keys that are not in memory, for reads
    /// about an assertion, and for RSA signatures. RSA signatures are made on other threads, because on the
    /// event loop they would delay other requests.
    ///
    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `KeySetError`, `SigningKeysShut`, `JOSEError`.
    public func response(_ request: TokenRequest) throws -> Step<Response> {
        // The keys are checked first, so that a failed request consumes no proof, code or token, and can be
        // repeated.
        try TokenMaker(server: server).requireKeys(for: request).then { [self] in
            try ClientAppCheck(server: server).check(request).then { [self] in
                try tokens(for: request)
            }
        }
    }

    private func tokens(for request: TokenRequest) throws -> Step<Response> {
        let client = request.client
        let tokens: Step<TokenResponse>
        switch request.grant {
        case .authorizationCode(let grant):
            tokens = try CodeRedemption(server: server).tokens(for: grant, of: client)
        case .refreshToken(let grant):
            tokens = try TokenRefresh(server: server).tokens(for: grant, of: client)
        case .assertion(let grant):
            return .later { try await AssertionGrant(server: server).response(grant, of: client) }
        case .exchange(let grant):
            tokens = try TokenExchange(server: server).tokens(for: grant, of: client)
        case .device(let grant):
            tokens = try DevicePoll(server: server).tokens(for: grant, of: client)
        }
        return tokens.map { .tokens($0) }
    }
}

/// A successful token response (RFC 6749 §5.1).
public struct TokenResponse: Sendable {
    public let accessToken: String
    /// Access token lifetime in seconds.
    public let expiresIn: Int64
    /// The refresh token; `nil` if the client gets no refresh token or keeps its current token.
    public let refreshToken: String?
    /// The granted scopes, separated by spaces.
    public let scope: String
    public let idToken: String?
    /// The issued token's type in the response to a token exchange (RFC 8693 §2.2.1); `nil` in any other
    /// response.
    public var issuedTokenType: TokenTypeIdentifier?
    /// Names of the values that were dropped from the identity token and from `user` in a token exchange.
    /// This member is our own, and clients ignore unknown members (RFC 6749 §5.1).
    public var dropped: [String] = []
}

extension TokenResponse: JSONBody {
    public static var schemaName: String { "TokenResponse" }
    public static var schemaText: String {
        "An access token response (RFC 6749 §5.1), or the result of the intent `check`."
    }

    // No member is required, because the result of `check` contains only the last member.
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member.unrequired("access_token", "A JWT (RFC 9068).") { $0.accessToken }
        member(
            "issued_token_type",
            "`urn:ietf:params:oauth:token-type:access_token`, in the response to a token exchange (RFC 8693 §2.2.1)."
        ) { $0.issuedTokenType?.rawValue }
        member.unrequired("token_type", "`Bearer`") { _ in "Bearer" }
        member.unrequired("expires_in", "The lifetime of the access token in seconds.") { $0.expiresIn }
        member(
            "refresh_token",
            "The refresh token to use from now on. Absent where the earlier refresh token stays good."
        ) { $0.refreshToken }
        member.unrequired("scope", "The granted scope. Space-separated.") { $0.scope }
        member("id_token", "The ID token (OpenID Connect Core §3.1.3.3). Present with the scope `openid`.") {
            $0.idToken
        }
        member("dropped", .dropped) { $0.dropped.unlessEmpty }
        // Only `LinkingResponse` contains this member.
        member("account_found", "`true` or `false`: the result of the intent `check`.") { _ -> String? in nil
        }
    }

    public func write(into json: inout JSONWriter) { json.object(self) }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    /// A description without tokens.
    public var description: String { "token response" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// App Check for native clients: judges the app that sends a token request. The proof covers all other
/// parameters of the request, so it cannot be used in another request.
struct ClientAppCheck: Sendable {
    let server: OAuthServer

    /// Consumes the proof before the grant is checked, so a refusal here does not affect codes or tokens.
    ///
    /// - Throws: `OAuthError` with the code `invalid_client` in enforced mode; `StorageError`,
    ///   `OverloadedError`.
    func check(_ request: TokenRequest) throws -> Step<Void> {
        guard let checks = server.dependencies.signIn.appChecks,
            let policy = checks.policies.ofOAuthClient(request.client.id.rawValue)
        else { return .now(()) }
        let proof = request.app.proof
        let evidence = AppEvidence(
            proof: proof.map { proof in
                guard proof.requestDigest != nil else { return .malformed }
                return PostedProof(
                    keyID: proof.keyID, assertion: proof.assertion, clientData: proof.clientData)
            }, appVersion: request.app.appVersion)
        return try Step.mappingErrors(Self.oauthError) {
            try checks.check(
                evidence, by: policy, vouchingFor: proof?.requestDigest ?? SHA256Digest.hash("")
            ).map { _ in }
        }
    }

    @Sendable private static func oauthError(_ error: any Error) -> any Error {
        (error as? AppCheckRefusal).map { OAuthError($0) } ?? error
    }
}
