import Hummingbird
import StrictJSON

/// Handles `POST /auth/token`, with its three grant types.
struct TokenEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .token)
        router.post("auth/token") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                try await response(to: request)
            }
        }
    }

    private func response(to request: Request) async throws -> EndpointResponse {
        do throws(OAuthError) {
            return try await grant(FormFields(bodyOf: request))
        } catch {
            state.count(error, on: .token)
            return .refusal(error)
        }
    }

    private func grant(_ form: FormFields) async throws(OAuthError) -> EndpointResponse {
        let type = form["grant_type"].flatMap { GrantType(rawValue: $0) }
        let (clientID, teamID) = try state.authenticate(
            form, includingFormerTeam: type == .clientCredentials)
        switch type {
        case .authorizationCode:
            let code = try form.require("code")
            return try await response(
                for: state.exchange(code, clientID: clientID, redirectURI: form["redirect_uri"]))
        case .refreshToken:
            return try await response(
                for: state.refresh(try form.require("refresh_token"), clientID: clientID))
        case .clientCredentials:
            guard try form.require("scope") == "user.migration" else {
                throw OAuthError(.invalidScope, "scope must be user.migration")
            }
            return .json(Self.members(state.grantMigration(teamID: teamID, clientID: clientID)))
        case nil:
            _ = try form.require("grant_type")
            throw OAuthError(
                .unsupportedGrantType,
                "grant_type must be authorization_code, refresh_token or client_credentials")
        }
    }

    private func response(for basis: TokenBasis) async throws(OAuthError) -> EndpointResponse {
        var json = Self.members(basis.accessToken)
        json["refresh_token"] = basis.refreshToken.map { .string($0) }
        do {
            json["id_token"] = .string(try await state.identityToken(of: basis))
        } catch {
            throw OAuthError(.serverError, "the identity token cannot be signed")
        }
        return .json(json)
    }

    private static func members(_ accessToken: String) -> JSONObject {
        JSONObject([
            ("access_token", .string(accessToken)), ("token_type", .string("Bearer")),
            ("expires_in", .integer(accessTokenLifetime)),
        ])
    }

    /// Access token lifetime in seconds.
    static let accessTokenLifetime: Int64 = 3600
}

/// The grant types that `/auth/token` supports (RFC 6749 §4.1.3, §6, §4.4.2).
enum GrantType: String, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case clientCredentials = "client_credentials"
}

/// Handles `POST /auth/revoke`. Authenticates the client, and sends an empty 200 for known and unknown
/// tokens.
struct RevokeEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .revoke)
        router.post("auth/revoke") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await response(to: request)
            }
        }
    }

    private func response(to request: Request) async -> EndpointResponse {
        do throws(OAuthError) {
            let form = try await FormFields(bodyOf: request)
            let (clientID, _) = try state.authenticate(form, includingFormerTeam: false)
            // `token_type_hint` may be wrong (RFC 7009 §2.1), so the emulator ignores it and searches
            // tokens of both types.
            state.revoke(try form.require("token"), clientID: clientID)
            return EndpointResponse(headers: [EndpointResponse.noStore])
        } catch {
            state.count(error, on: .revoke)
            return .refusal(error)
        }
    }
}
