import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import OAuth
import TestSupport
import Testing

@testable import OAuthFixtures

/// A device that has asked for a user, in the words of `given.device`.
struct GivenDevice {
    let service: PlayedService
    let given: TokenCase.Given
    let word: String

    func prepare(_ result: inout GivenTokens) async throws {
        guard word != "unknown" else {
            result.value = DeviceCodeText(random: SecureRandom.bytes(count: 32)).text
            return
        }
        let client = try service.deployment.client(try #require(given.client))
        let response = try await service.post(
            "/oauth/device_authorization", ["client_id": client.id.rawValue])
        try #require(response.status == 200, "\(response.text)")
        result.value = try #require(try response.object()["device_code"] as? String)
        switch word {
        case "waiting": break
        case "refused": try await decide(result.value, client, account: nil)
        case "agreed": try await agree(client, &result)
        case "polled 1 seconds ago, agreed":
            try await poll(result.value, client)
            service.clock.advance(by: .seconds(1))
            try await agree(client, &result)
        case "polled early, then 9 seconds ago":
            try await poll(result.value, client)
            service.clock.advance(by: .seconds(1))
            try await poll(result.value, client)
            service.clock.advance(by: .seconds(9))
        default: try await prepare(aged: try AgedWord(word), client, &result)
        }
    }

    private func prepare(
        aged word: AgedWord, _ client: OAuthClient, _ result: inout GivenTokens
    ) async throws {
        guard case .aged(let what, let seconds) = word else { throw UnknownGiven(text: self.word) }
        switch what {
        case "requested": break
        case "polled": try await poll(result.value, client)
        case "agreed": try await agree(client, &result)
        case "redeemed":
            try await agree(client, &result)
            let tokens = try await service.post(
                "/oauth/token",
                [
                    "grant_type": PollDeviceCommand.redirectURI, "client_id": client.id.rawValue,
                    "device_code": result.value,
                ])
            try #require(tokens.status == 200, "\(tokens.text)")
            let members = try tokens.object()
            for name in ["access_token", "refresh_token"] {
                result.tokens.append(try #require(members[name] as? String))
            }
        default: throw UnknownGiven(text: self.word)
        }
        service.clock.advance(by: .seconds(seconds))
    }

    private func agree(_ client: OAuthClient, _ result: inout GivenTokens) async throws {
        let user = PlayedUser(service: service, app: client.app.rawValue)
        let account =
            given.credential == "refresh token rejected"
            ? try await user.signInWithRefreshToken() : try await user.signIn()
        (result.user, result.account) = (user, account)
        try await decide(result.value, client, account: account)
    }

    /// Decides as the page of the user does.
    private func decide(_ code: String, _ client: OAuthClient, account: String?) async throws {
        var generator = SystemRandomNumberGenerator()
        let approval = try account.map { account in
            DecideDeviceCommand.Approval(
                accountID: try #require(AccountID(account)),
                newGrantID: GrantID(UniqueID(at: service.now, using: &generator)), clientID: client.app,
                scope: try #require(given.scope), authenticatedAt: service.now, authenticatedAfter: nil)
        }
        _ = try await service.server.dependencies.commits.submit(
            DecideDeviceCommand(
                deviceDigest: try #require(DeviceCodeText(parsing: code)).digest, oauthClientID: client.id,
                approval: approval, moment: service.now))
    }

    /// Polls below the endpoint, which would count a refusal.
    private func poll(_ code: String, _ client: OAuthClient) async throws {
        var generator = SystemRandomNumberGenerator()
        let redemption = RedeemCommand(
            codeDigest: try #require(DeviceCodeText(parsing: code)).digest, oauthClientID: client.id,
            redirectURI: PollDeviceCommand.redirectURI, codeVerifier: nil, clientScopes: client.scopes,
            newFamilyID: UniqueID(at: service.now, using: &generator), isNative: true, refreshToken: nil,
            needsOfflineAccess: false, familyExpiresAt: service.now,
            limits: FamilyLimits(perClient: 1, perAccount: nil), moment: service.now)
        await #expect(throws: GrantRefusal.self) {
            _ = try await service.server.dependencies.commits.submit(PollDeviceCommand(redemption))
        }
    }
}
