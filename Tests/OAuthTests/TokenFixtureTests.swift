import AppleAccounts
import JOSE
import KeySets
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import AuthorizationServer
@testable import OAuth

/// Plays `Fixtures/oauth/token` with the use cases: brings about what `given` says, sends the request, and
/// compares the answer.
@Suite struct TokenFixtureTests {
    private static let folder = FixtureFolder("oauth/token")
    /// Without those after a refused refresh token of Apple's, for which the conformance suite of the stores
    /// has the means.
    static let names = ((try? folder.names()) ?? []).filter { name in
        let file = try? JSONValue(parsing: (try? folder.bytes(of: name)) ?? [])
        return file?["given"]?["credential"] != .string("refresh token rejected")
    }

    @Test func `there are cases`() {
        #expect(Self.names.count >= 80)
    }

    @Test(arguments: names)
    func `answers a token request as its file says`(name: String) async throws {
        let file = try JSONValue(parsing: try Self.folder.bytes(of: name))
        let world = try FixtureWorld()
        let given = file["given"]
        let value = try await world.prepare(given)
        let request = try #require(file["request"])
        var body = request["body"]?.string ?? ""
        for (key, text) in value { body = body.replacing("{\(key)}", with: text) }
        let expect = try #require(file["expect"])
        do {
            let read = try UnauthenticatedTokenRequest(
                body: body.utf8, contentType: request["content_type"]?.string,
                authorization: request["authorization"]?.string, query: request["query"]?.string?.utf8)
            let token = try GuardedAuthentication(world.world.server)(read.credentials, from: nil) {
                () throws(TokenEndpointError) in
                try read.authenticated(in: world.world.settings.clients)
            }
            if let redemption = given?["code"]?.string, redemption.hasPrefix("redeemed") {
                guard case .tokens = try await TokenEndpoint(world.world.server).answer(token) else {
                    throw OAuthWorld.NoTokens()
                }
                world.world.clock.advance(by: .seconds(Self.seconds(in: redemption)))
            }
            let answer = try await TokenEndpoint(world.world.server).answer(token)
            compare(answer, with: expect)
        } catch let error as TokenEndpointError {
            compare(error, with: expect)
        } catch let error as OAuthError {
            compare(TokenEndpointError(error), with: expect)
        }
    }

    private func compare(_ error: TokenEndpointError, with expect: JSONValue) {
        #expect(expect["error"]?.string == error.error.code.rawValue)
        #expect(expect["status"]?.integer == Int64(error.status))
    }

    private func compare(_ answer: TokenEndpoint.Answer, with expect: JSONValue) {
        switch answer {
        case .linking(let linking):
            #expect(expect["status"]?.integer.map { $0 == Int64(linking.status) } ?? true)
        case .tokens(let tokens):
            #expect(expect["error"] == nil)
            #expect(expect["status"]?.integer == 200)
            var names = ["access_token"]
            if tokens.refreshToken != nil { names.append("refresh_token") }
            if tokens.idToken != nil { names.append("id_token") }
            let expected = expect["tokens"]?.array?.compactMap(\.string) ?? []
            #expect(Set(names) == Set(expected))
            #expect(expect["scope"]?.string == tokens.scope)
        }
    }

    static func seconds(in text: String) -> Int64 {
        text.split(separator: " ").lazy.compactMap { Int64($0) }.first ?? 0
    }
}

/// The deployment of the fixtures, and what has happened in it before a request.
private struct FixtureWorld {
    let world: OAuthWorld
    private let appID: String

    init() throws {
        let file = try JSONValue(parsing: try FixtureFolder("oauth/configuration").bytes(of: "standard.json"))
        var apps: [App] = []
        for team in file["teams"]?.array ?? [] {
            let teamID = try #require(TeamID(team["team_id"]?.string ?? ""))
            for app in team["apps"]?.array ?? [] {
                let ids = try (app["client_ids"]?.array ?? []).map {
                    try #require(ClientID($0.string ?? ""))
                }
                apps.append(App(team: teamID, primaryClientID: ids[0], otherClientIDs: Array(ids[1...])))
            }
        }
        let oauth = try #require(file["oauth"])
        var draft = OAuthDraft(issuer: oauth["issuer"]?.string)
        draft.scopes = (oauth["scopes"]?.array ?? []).map { scope in
            ScopeDraft(
                name: scope["name"]?.string ?? "", text: Self.texts(scope["text"]),
                isOptional: scope["optional"]?.bool ?? false)
        }
        draft.clients = (oauth["clients"]?.array ?? []).map(Self.client)
        let deployment = try Deployment(apps: apps)
        world = try OAuthWorld(
            deployment: deployment, settings: try OAuthSample.checked(draft, in: deployment))
        appID = apps[0].primaryClientID.rawValue
    }

    /// Returns what stands for the places in the body.
    func prepare(_ given: JSONValue?) async throws -> [String: String] {
        guard let given else { return [:] }
        if given["assertion"] != nil {
            let aud = try #require(
                world.settings.clients.clients.compactMap(\.googleLinking).first?.googleClientIDs.first)
            return ["assertion": try world.googleToken { $0["aud"] = .string(aud) }]
        }
        let account = try await person()
        let client = try world.client(given["client"]?.string ?? "")
        let values: [String: String]
        if let kind = given["code"]?.string {
            values = ["code": try await code(kind, given, account, client)]
        } else {
            values = [
                "refresh_token": try await refreshToken(
                    given["refresh_token"]?.string ?? "", given, account, client)
            ]
        }
        if given["credential"] == .string("consent revoked") { try await revokeConsent() }
        if given["account"] != nil {
            _ = try await world.signIn.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        }
        return values
    }

    private func person() async throws -> Account {
        try await world.person { $0["aud"] = .string(appID) }
    }

    private func code(
        _ kind: String, _ given: JSONValue, _ account: Account, _ client: OAuthClient
    ) async throws -> String {
        if kind == "unknown" { return AuthorizationCodeText(random: Array(repeating: 9, count: 32)).text }
        let code = try await issue(given, account, client)
        if kind.hasPrefix("issued") {
            world.clock.advance(by: .seconds(TokenFixtureTests.seconds(in: kind)))
        }
        return code
    }

    private func issue(
        _ given: JSONValue, _ account: Account, _ client: OAuthClient
    ) async throws -> String {
        let challenge = given["code_challenge"]?.string.map {
            CodeRecord.StoredChallenge(
                text: $0, isPlain: given["code_challenge_method"]?.string == "plain")
        }
        let uri = given["redirect_uri"]?.string ?? client.redirectURIs[0].text
        return try await world.code(
            for: account.id, client: client.id.rawValue, uri: uri, scope: given["scope"]?.string ?? "openid",
            stored: challenge)
    }

    private func refreshToken(
        _ kind: String, _ given: JSONValue, _ account: Account, _ client: OAuthClient
    ) async throws -> String {
        let code = try await issue(given, account, client)
        func ask(_ grant: TokenRequest.Grant) async throws -> TokenResponse {
            let answer = try await TokenEndpoint(world.server).answer(
                TokenRequest(client: client, grant: grant))
            guard case .tokens(let tokens) = answer else { throw OAuthWorld.NoTokens() }
            return tokens
        }
        func rotate(_ token: String) async throws -> String {
            let grant = TokenRequest.RefreshGrant(refreshToken: token, scope: nil)
            return try await ask(.refreshToken(grant)).refreshToken ?? token
        }
        let uri = given["redirect_uri"]?.string ?? client.redirectURIs[0].text
        let grant = TokenRequest.CodeGrant(code: code, redirectURI: uri, codeVerifier: nil)
        let first = try #require(try await ask(.authorizationCode(grant)).refreshToken)
        switch kind {
        case "fresh": return first
        case "revoked":
            try await TokenRevocation(world.server).revoke(first, of: client)
            return first
        case "expired":
            world.clock.advance(by: .seconds(400 * 86_400))
            return first
        case "unknown":
            return TokenMaker.newRefreshToken(lineID: UniqueID(high: 1, low: 2)).text
        case "altered":
            let last = first.last == "A" ? "B" : "A"
            let middle = first.index(first.endIndex, offsetBy: -3)
            return String(first[..<middle]) + last + first[first.index(after: middle)...]
        case "rotated twice":
            _ = try await rotate(try await rotate(first))
            return first
        default:
            let next = try await rotate(first)
            if kind.hasSuffix("successor used") { _ = try await rotate(next) }
            world.clock.advance(by: .seconds(TokenFixtureTests.seconds(in: kind)))
            return first
        }
    }

    private func revokeConsent() async throws {
        var claims = TokenMint.notificationClaims(at: TokenMint.sampleTime + 60)
        claims["aud"] = .string(appID)
        let pending = try await world.signIn.receiveNotification(
            payload: try TokenMint.shared.sign(claims)
        ).value
        _ = try await world.signIn.commits.submit(pending)
    }

    private static func texts(_ value: JSONValue?) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, text) in value?.object?.members ?? [] { texts[name] = text.string }
        return texts
    }

    private static func client(_ value: JSONValue) -> ClientDraft {
        func list(_ name: String) -> [String] { value[name]?.array?.compactMap(\.string) ?? [] }
        var draft = ClientDraft(
            id: value["id"]?.string ?? "", kind: value["kind"]?.string ?? "",
            app: value["app"]?.string ?? "", name: texts(value["name"]))
        draft.secretHashes = list("secret_hashes")
        draft.redirectURIs = list("redirect_uris")
        draft.googleClientIDs = list("google_client_ids")
        draft.scopes = list("scopes")
        draft.audience = value["audience"]?.string
        draft.platform = value["platform"]?.string
        draft.projectID = value["project_id"]?.string
        draft.maxAuthenticationAge = value["max_authentication_age"]?.integer
        draft.allowsPlainPKCE = value["allow_plain_pkce"]?.bool
        draft.appFlip = value["app_flip"]?.bool
        draft.appFlipBundleIDs = list("app_flip_bundle_ids")
        return draft
    }
}
