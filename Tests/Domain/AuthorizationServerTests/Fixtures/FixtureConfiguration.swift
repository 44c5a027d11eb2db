import AppleAccounts
import AuthorizationServer
import TestSupport
import Testing

@testable import OAuthFixtures

/// `Fixtures/oauth/configuration/standard.json`: a configuration file of the service, with every kind of
/// client.
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

    /// Read once, because hundreds of cases need it.
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
