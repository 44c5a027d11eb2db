import AppleAccounts
import Foundation
import StorageConformance
import StrictJSON
import Testing
import TokenMint

/// A user at Apple, and the events of the user's account. All events go through the service, except the
/// results of its daily check.
struct PlayedUser: Sendable {
    static let team = "FXTEAM0001"

    let service: PlayedService
    /// The app's primary client ID.
    let app: String

    func identityToken(
        authenticatedAt: Moment? = nil, _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let now = service.now.milliseconds / 1000
        var claims = TokenMint.identityClaims(at: now)
        claims["aud"] = .string(app)
        claims["auth_time"] = .integer(authenticatedAt.map { $0.milliseconds / 1000 } ?? now)
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    /// Returns the account's ID.
    @discardableResult
    func signIn(_ token: String? = nil) async throws -> String {
        let token = try token ?? identityToken()
        let response = try await service.call("POST", "/v1/sign-ins", ["identity_token": token])
        #expect(response.status == 200 || response.status == 201, "\(response.text)")
        let account = try #require(try response.object()["account"] as? [String: any Sendable])
        return try #require(account["id"] as? String)
    }

    /// Signs in with a code that is exchanged for a refresh token of Apple.
    func signInWithRefreshToken() async throws -> String {
        try await service.store.hold(
            key: try key(), clientID: try clientID(), authorizedAt: service.now
        ).id.rawValue
    }

    /// Rejects Apple's refresh token, as the daily check does.
    func rejectRefreshToken(of account: String) async throws {
        let receipt = try await service.store.reject(
            RejectionCommand(
                key: key(), accountID: try #require(AccountID(account)), clientID: clientID(),
                primaryClientID: clientID(), tokenID: .sample(1), moment: service.now))
        #expect(receipt == .revoked)
    }

    /// Sends a notification of Apple: consent withdrawn, or Apple Account deleted.
    func notify(_ type: String) async throws {
        let now = service.now.milliseconds / 1000
        var claims = TokenMint.notificationClaims(type: type, at: now)
        claims["aud"] = .string(app)
        claims["jti"] = .string("jti-\(type)-\(now)")
        let response = try await service.call(
            "POST", "/v1/apple/notifications", ["payload": try TokenMint.shared.sign(claims)])
        #expect(response.status == 200, "\(response.text)")
    }

    func erase(_ account: String) async throws {
        let response = try await service.call("DELETE", "/v1/accounts/\(account)")
        #expect([200, 202].contains(response.status), "\(response.text)")
    }

    private func key() throws -> SubjectKey {
        SubjectKey(
            team: try #require(TeamID(Self.team)), subject: try #require(AppleSubject(TokenMint.subject)))
    }

    private func clientID() throws -> ClientID { try #require(ClientID(app)) }
}

extension PlayedService {
    /// Makes a call of the app's backend.
    ///
    /// - Parameter caller: The app of its API key; `nil` for all apps.
    func call(
        _ method: String, _ path: String, _ members: [String: String]? = nil, caller: String? = nil
    ) async throws -> PlayedResponse {
        var fields = ["Authorization": "Bearer \(FixtureDeployment.secret(of: caller))"]
        guard let members else { return try await send(method, path, fields) }
        fields["Content-Type"] = "application/json"
        let body = try JSONSerialization.data(withJSONObject: members)
        return try await send(method, path, fields, body: String(decoding: body, as: UTF8.self))
    }

    /// Posts a form.
    func post(_ path: String, _ parameters: [String: String], _ fields: [String: String] = [:]) async throws
        -> PlayedResponse
    {
        let body = parameters.map { "\($0.key)=\(Self.encode($0.value))" }.joined(separator: "&")
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        return try await send("POST", path, type.merging(fields) { $1 }, body: body)
    }

    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
