import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import HTTPAPI
import OAuth
import StorageConformance
import TestSupport
import Testing
import TokenMint

@testable import Composition
@testable import OAuthFixtures

/// Every fixture of OAuth against the whole service, over HTTP, on SQLite. All stores pass the same conformance
/// suite, so another store would answer the same.
@Suite(.timeLimit(.hung)) struct FixturePlayTests {
    @Test(arguments: try OAuthFixture<AuthorizationCase>.all(in: "authorization"))
    func `answers an authorization request as its file says`(
        file: OAuthFixture<AuthorizationCase>
    ) async throws {
        try await PlayedService.with { service in
            try await AuthorizationPlayer(service: service, request: file.content.request)
                .play(file.content.expect)
        }
    }

    @Test(arguments: try OAuthFixture<TokenCase>.all(in: "token"))
    func `answers a token request as its file says`(file: OAuthFixture<TokenCase>) async throws {
        try await PlayedService.with { service in
            try await TokenPlayer(service: service, content: file.content).play()
        }
    }

    @Test(arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip"))
    func `answers an App Flip call as its file says`(file: OAuthFixture<AppFlipCase>) async throws {
        try await PlayedService.with { service in
            try await AppFlipPlayer(service: service, content: file.content).play()
        }
    }

    @Test(arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip-prompt"))
    func `prompts for an App Flip link as its file says, and stores nothing`(
        file: OAuthFixture<AppFlipCase>
    ) async throws {
        try await PlayedService.with { service in
            try await AppFlipPromptPlayer(service: service, content: file.content).play()
        }
    }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "revocation"))
    func `answers a revocation as its file says (RFC 7009)`(file: OAuthFixture<EndpointCase>) async throws {
        try await play(file)
    }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "introspection"))
    func `answers an introspection as its file says (RFC 7662)`(file: OAuthFixture<EndpointCase>) async throws
    { try await play(file) }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "userinfo"))
    func `answers a request for userinfo as its file says`(file: OAuthFixture<EndpointCase>) async throws {
        try await play(file)
    }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "metadata"))
    func `publishes a document as its file says (RFC 8414)`(file: OAuthFixture<EndpointCase>) async throws {
        try await play(file)
    }

    private func play(_ file: OAuthFixture<EndpointCase>) async throws {
        try await PlayedService.with { service in
            try await EndpointPlayer(service: service, content: file.content).play()
        }
    }
}

/// `Fixtures/oauth/configuration`, read as the service reads its configuration file.
struct FixtureDeployment: Sendable {
    /// One minute after the sample tokens of the mint were signed.
    static let start = Moment(seconds: TokenMint.sampleTime + 60)
    static let issuer = "https://accounts.example.com"

    let settings: ServiceSettings
    let oauth: OAuthSettings
    /// Secrets of the confidential clients.
    let secrets: [String: [String]]
    /// Signing keys, made once because generating an RSA key is slow.
    let signingKeys: [SigningKeyRecord]
    let callers: CallerDirectory

    static func shared() async throws -> FixtureDeployment { try await loading.value }

    private static let loading = Task { try await load() }

    private static func load() async throws -> FixtureDeployment {
        let folder = FixtureFolder("oauth/configuration")
        let file = String(decoding: try folder.bytes(of: "standard.json"), as: UTF8.self)
        let settings = try await TemporaryFile.with(file) { path in
            try await SettingsReader.read(environment: [
                "SIWA_CONFIG": path, "SIWA_PUBLIC_URL": issuer,
                "SIWA_SEALING_KEYS": "a=\(Base64.encode(SecureRandom.bytes(count: 32)))",
                "SIWA_API_KEY_HASHES": "backend=\(Hexadecimal.encode(APIKeySecret.hash(secret(of: nil))))",
            ])
        }
        let oauth = try #require(settings.oauth)
        let store = ReferenceStore()
        let keys = SigningKeys(
            for: oauth, store: store, sealingKeys: try #require(settings.sealingKeys), now: { start },
            logger: .silent)
        try await keys.refresh()
        let own = settings.deployment.apps.map(\.primaryClientID).map { app in
            APIKey(name: app.rawValue, hash: APIKeySecret.hash(secret(of: app.rawValue)), scope: .only([app]))
        }
        let all = APIKey(name: "backend", hash: APIKeySecret.hash(secret(of: nil)), scope: .all)
        return FixtureDeployment(
            settings: settings, oauth: oauth,
            secrets: try JSONDecoder().decode(
                [String: [String]].self, from: Data(try folder.bytes(of: "secrets.json"))),
            signingKeys: try await store.signingKeys(), callers: CallerDirectory(keys: [all] + own))
    }

    /// The secret of the API key for an app, by its primary client ID; without an app, of the API key for all
    /// apps.
    static func secret(of app: String?) -> String { "siwa_key_of_the_fixtures_\(app ?? "all")" }

    func client(_ id: String) throws -> OAuthClient { try #require(oauth.clients[id]) }
}
