import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import OAuth
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuthFixtures

/// Google's ID token in the words of `given.assertion`. The mint plays Google.
struct GivenAssertion {
    static let app = "com.example.siwa.app"
    private static let subject = "104932742904237498437"

    let service: PlayedService
    let word: String

    func token() async throws -> String {
        switch word {
        case "of a Google account that is not linked": return try mint()
        case "of a linked Google account":
            try await signIn(email: "ada@gmail.com")
            let linked = try await link(try mint { $0["email"] = "ada@gmail.com" })
            #expect(linked.status == 200, "\(linked.text)")
            // The address has changed since, and does not matter any more.
            return try mint { $0["email"] = "countess@gmail.com" }
        case "of a Google account with the verified address of an account":
            try await signIn(email: "ada@gmail.com")
            return try mint()
        case "of a Google Workspace account with the verified address of an account":
            try await signIn(email: "ada@example.com")
            return try mint {
                $0["email"] = "ada@example.com"
                $0["hd"] = "example.com"
            }
        case "of a Google account with an address that Google does not answer for":
            try await signIn(email: "ada@example.com")
            return try mint { $0["email"] = "ada@example.com" }
        case "of a Google account with an address that is not verified":
            try await signIn(email: "ada@gmail.com")
            return try mint { $0["email_verified"] = false }
        case "of a Google account with the private address of an account":
            let relay = "q4zjk7x2rt@privaterelay.appleid.com"
            try await signIn(email: relay, isPrivate: true)
            return try mint {
                $0["email"] = .string(relay)
                $0["hd"] = "privaterelay.appleid.com"
            }
        case "of a linked Google account whose credential is revoked":
            let user = try await signIn(email: "ada@gmail.com")
            let linked = try await link(try mint())
            #expect(linked.status == 200, "\(linked.text)")
            service.clock.advance(by: .seconds(10))
            try await user.notify("consent-revoked")
            service.clock.advance(by: .seconds(1))
            return try mint()
        case "of a disabled Google account":
            try await signIn(email: "ada@gmail.com")
            try await disable()
            return try mint()
        case "expired": return try mint { $0["exp"] = .integer(now - 3600) }
        case "of another audience": return try mint { $0["aud"] = "999-z.apps.googleusercontent.com" }
        case "of another issuer": return try mint { $0["iss"] = "https://accounts.evil.example" }
        case "with a forged signature": return String(try mint().dropLast(8)) + "AAAAAAAA"
        case "without a signature": return Self.unsigned(try mint())
        case "an identity token of Apple's":
            return try PlayedUser(service: service, app: Self.app).identityToken()
        case "a security event token": return try mint { $0["events"] = [:] }
        case "no token": return "siwa"
        default: throw UnknownGiven(text: word)
        }
    }

    private var now: Int64 { service.now.milliseconds / 1000 }

    private func mint(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims = JSONObject([
            ("iss", "https://accounts.google.com"),
            ("aud", "123-abc.apps.googleusercontent.com"), ("sub", .string(Self.subject)),
            ("iat", .integer(now)), ("exp", .integer(now + 3600)), ("email", "ada@gmail.com"),
            ("email_verified", true),
        ])
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }

    private static func unsigned(_ token: String) -> String {
        // {"alg":"none"}
        "eyJhbGciOiJub25lIn0." + token.split(separator: ".")[1] + "."
    }

    @discardableResult
    private func signIn(email: String, isPrivate: Bool = false) async throws -> PlayedUser {
        let user = PlayedUser(service: service, app: Self.app)
        try await user.signIn(
            try user.identityToken {
                $0["email"] = .string(email)
                $0["is_private_email"] = .bool(isPrivate)
            })
        return user
    }

    private func link(_ assertion: String) async throws -> PlayedResponse {
        try await service.post(
            "/oauth/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion,
                "intent": "get", "client_id": "google",
                "client_secret": try #require(service.deployment.secrets["google"]?.first),
            ])
    }

    /// Sends Google's event that the account is disabled.
    private func disable() async throws {
        let subject = JSONObject([
            ("subject_type", "iss-sub"), ("iss", "https://accounts.google.com/"),
            ("sub", .string(Self.subject)),
        ])
        let type = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"
        let event = JSONObject([("subject", .object(subject)), ("reason", "hijacking")])
        let claims = JSONObject([
            ("iss", "https://accounts.google.com/"),
            ("aud", "123-abc.apps.googleusercontent.com"), ("iat", .integer(now)),
            ("jti", "set-1"), ("events", .object(JSONObject([(type, .object(event))]))),
        ])
        let response = try await service.send(
            "POST", "/v1/google/security-events", ["Content-Type": "application/secevent+jwt"],
            body: try TokenMint.shared.sign(claims))
        #expect(response.status == 202, "\(response.text)")
    }
}

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

    private func prepare(aged word: AgedWord, _ client: OAuthClient, _ result: inout GivenTokens) async throws
    {
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
