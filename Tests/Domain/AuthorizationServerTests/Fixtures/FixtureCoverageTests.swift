import AppleAccounts
import AuthorizationServer
import Foundation
import TestSupport
import Testing

@testable import OAuthFixtures

/// Cases that the fixture folders must contain as a whole.
@Suite struct FixtureCoverageTests {
    private static let members: [String: Set<String>] = [
        "authorization": [
            "summary", "request.method", "request.query", "request.form", "request.user_agent",
            "request.accept_language", "expect.page.status", "expect.page.error", "expect.redirect.uri",
            "expect.redirect.error", "expect.redirect.state", "expect.redirect.iss", "expect.proceed.client",
            "expect.proceed.redirect_uri", "expect.proceed.scope", "expect.proceed.state",
            "expect.proceed.code_challenge", "expect.proceed.code_challenge_method", "expect.proceed.nonce",
            "expect.proceed.login_hint", "expect.proceed.prompt", "expect.proceed.max_age",
            "expect.proceed.language",
        ],
        "token": [
            "summary", "given.code", "given.refresh_token", "given.assertion", "given.identity",
            "given.device", "given.client",
            "given.redirect_uri", "given.scope", "given.nonce", "given.code_challenge",
            "given.code_challenge_method", "given.code_verifier", "given.credential", "given.account",
            "request.content_type", "request.authorization",
            "request.query", "request.body", "expect.status", "expect.error",
            "expect.reason", "expect.www_authenticate",
            "expect.tokens", "expect.scope", "expect.grant.client", "expect.grant.type",
            "expect.grant.redirect_uri", "expect.grant.code_verifier", "expect.grant.scope",
            "expect.grant.intent", "expect.access_token.alg", "expect.access_token.aud",
            "expect.access_token.client_id", "expect.access_token.expires_in",
            "expect.access_token.claims", "expect.id_token.alg", "expect.id_token.aud",
            "expect.id_token.claims", "expect.linking.account_found", "expect.linking.error",
            "expect.linking.login_hint", "expect.afterwards.code", "expect.afterwards.tokens",
        ],
        "app-flip": [
            "summary", "caller", "given.identity", "call.client_id", "call.redirect_uri", "call.state",
            "call.scope", "call.code_challenge", "call.code_challenge_method", "call.user_locale",
            "call.decision", "call.granted_scopes", "call.identity_token", "call.nonce",
            "call.account_id", "call.authenticated_at", "expect.status", "expect.code",
            "expect.authenticated_seconds_ago", "expect.outcome", "expect.scope", "expect.language",
            "expect.redirect.uri",
            "expect.redirect.error", "expect.redirect.state",
        ],
        "app-flip-prompt": [
            "summary", "caller", "given.identity", "call.client_id", "call.redirect_uri", "call.state",
            "call.scope", "call.code_challenge", "call.code_challenge_method", "call.user_locale",
            "call.accept_language", "call.account_id", "call.authenticated_at", "call.decision",
            "call.granted_scopes", "call.identity_token", "call.nonce", "expect.status", "expect.code",
            "expect.outcome", "expect.redirect.uri", "expect.redirect.error", "expect.redirect.state",
            "expect.prompt.language", "expect.prompt.scope", "expect.prompt.optional",
            "expect.sign_in_again",
        ],
        "revocation": endpointMembers.union([
            "given.refresh_token", "given.code", "given.client", "given.redirect_uri", "given.scope",
            "given.code_challenge", "given.code_challenge_method", "given.credential", "request.content_type",
            "request.authorization", "request.query", "request.body", "expect.error",
            "expect.www_authenticate.scheme", "expect.afterwards.code", "expect.afterwards.tokens",
        ]),
        "introspection": endpointMembers.union([
            "given.refresh_token", "given.code", "given.client", "given.redirect_uri", "given.scope",
            "given.code_challenge", "given.code_challenge_method", "given.credential", "given.account",
            "request.content_type", "request.authorization", "request.query", "request.api_key",
            "request.body", "expect.error", "expect.www_authenticate.scheme", "expect.headers.allow",
            "expect.members", "expect.afterwards.tokens",
        ]),
        "userinfo": endpointMembers.union([
            "given.refresh_token", "given.code", "given.client", "given.redirect_uri", "given.scope",
            "given.code_challenge", "given.code_challenge_method", "given.credential", "given.account",
            "request.content_type", "request.authorization", "request.query", "request.body",
            "expect.error", "expect.www_authenticate.scheme", "expect.www_authenticate.error",
            "expect.www_authenticate.scope", "expect.members",
        ]),
        "metadata": endpointMembers.union(["expect.members"]),
    ]

    private static let endpointMembers: Set<String> = [
        "summary", "request.method", "request.path", "expect.status", "expect.headers.cache-control",
    ]

    /// A misspelled expectation would never be compared with anything, so unknown names fail.
    @Test(arguments: members.keys.sorted())
    func `reads every member of a case, and has a case for each`(folder: String) throws {
        let known = try #require(Self.members[folder])
        let fixtures = FixtureFolder("oauth/\(folder)")
        var found: Set<String> = []
        for name in try fixtures.names() {
            let object = try JSONSerialization.jsonObject(with: Data(try fixtures.bytes(of: name)))
            let paths = Self.paths(of: object, under: "")
            #expect(paths.isSubset(of: known), "\(name)")
            found.formUnion(paths)
        }
        #expect(found == known)
    }

    @Test func `has the two examples of Google's page for installed apps, and the challenge of RFC 7636`()
        throws
    {
        for name in ["proceeds-custom-scheme-of-installed-apps", "proceeds-loopback-of-installed-apps"] {
            let file = try OAuthFixture<AuthorizationCase>(
                name: "\(name).json", in: FixtureFolder("oauth/authorization"))
            let query = try #require(file.content.request.query)
            #expect(
                query.hasPrefix("scope=email%20profile&response_type=code&state=security_token%3D138r5719"))
            #expect(query.contains("&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&"))
        }
    }

    private static func paths(of value: Any, under path: String) -> Set<String> {
        // Each name in `expect.members` is compared with the response, so none needs its own reader.
        guard let object = value as? [String: Any], path != "expect.members" else { return [path] }
        var paths: Set<String> = []
        for (name, value) in object {
            paths.formUnion(self.paths(of: value, under: path.isEmpty ? name : "\(path).\(name)"))
        }
        return paths
    }
}

/// `Fixtures/oauth/configuration/standard.json`: a service configuration file with every kind of client.
struct FixtureConfiguration: Decodable, Sendable {
    let teams: [Team]
    let oauth: OAuth

    struct Team: Decodable {
        let teamId: String
        let apps: [FixtureApp]
    }

    struct FixtureApp: Decodable {
        let clientIds: [String]
        let webRedirectUrl: String?
    }

    struct OAuth: Decodable {
        let issuer: String
        let scopes: [Scope]
        let clients: [Client]
    }

    struct Scope: Decodable {
        let name: String
        let text: [String: String]
        let optional: Bool?
    }

    struct Client: Decodable {
        let id, kind, app: String
        let name: [String: String]
        let secretHashes, redirectUris, googleClientIds, appFlipBundleIds: [String]?
        let scopes: [String]
        let audience, platform, projectId: String?
        let maxAuthenticationAge: Int64?
        let bundleId: String?
        let allowPlainPkce, appFlip, firstParty, allowNativeSignIn, allowCustomScheme, implyOpenid: Bool?
        let allowDeviceGrant: Bool?
    }

    static func settings() throws -> OAuthSettings { try loaded.get() }

    /// Loaded only once, because hundreds of cases need it.
    private static let loaded = Result { try load() }

    private static func load() throws -> OAuthSettings {
        let folder = FixtureFolder("oauth/configuration")
        let file = try OAuthFixture<FixtureConfiguration>(name: "standard.json", in: folder)
        return try file.content.settings()
    }

    private func settings() throws -> OAuthSettings {
        var apps: [App] = []
        var appsWithWebSignIn: Set<ClientID> = []
        for team in teams {
            let teamID = try #require(TeamID(team.teamId))
            for app in team.apps {
                let clientIDs = try app.clientIds.map { try #require(ClientID($0)) }
                apps.append(
                    App(
                        team: teamID, primaryClientID: clientIDs[0],
                        otherClientIDs: Array(clientIDs.dropFirst())))
                if app.webRedirectUrl != nil { appsWithWebSignIn.insert(clientIDs[0]) }
            }
        }
        let draft = OAuthDraft(
            issuer: oauth.issuer,
            scopes: oauth.scopes.map {
                ScopeDraft(name: $0.name, text: $0.text, isOptional: $0.optional ?? false)
            },
            clients: oauth.clients.map(\.draft))
        let context = OAuthContext(
            isDevelopment: false, publicURL: nil, deployment: try Deployment(apps: apps),
            appsWithWebSignIn: appsWithWebSignIn)
        switch OAuthSettings.check(draft, in: context) {
        case .usable(let settings): return settings
        case .none: throw OAuthSettings.UnusableSample(mistakes: [])
        case .refused(let mistakes): throw OAuthSettings.UnusableSample(mistakes: mistakes)
        }
    }
}

extension FixtureConfiguration.Client {
    fileprivate var draft: ClientDraft {
        var draft = ClientDraft(id: id, kind: kind, app: app, name: name)
        draft.secretHashes = secretHashes ?? []
        draft.redirectURIs = redirectUris ?? []
        draft.googleClientIDs = googleClientIds ?? []
        draft.scopes = scopes
        draft.audience = audience
        draft.platform = platform
        draft.projectID = projectId
        draft.maxAuthenticationAge = maxAuthenticationAge
        draft.allowsPlainPKCE = allowPlainPkce
        draft.appFlip = appFlip
        draft.isFirstParty = firstParty
        draft.allowsNativeSignIn = allowNativeSignIn
        draft.allowsCustomScheme = allowCustomScheme
        draft.impliesOpenID = implyOpenid
        draft.allowsDeviceGrant = allowDeviceGrant
        draft.bundleID = bundleId
        draft.appFlipBundleIDs = appFlipBundleIds ?? []
        return draft
    }
}
