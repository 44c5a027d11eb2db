import TestSupport
import Testing

@testable import OAuthFixtures

/// Every fixture of OAuth against the whole service, over HTTP.
///
/// Token requests are played on two stores, because their outcome depends on what is stored. All stores pass
/// the same conformance suite.
@Suite(.timeLimit(.hung)) struct FixturePlayTests {
    @Test(arguments: try OAuthFixture<AuthorizationCase>.all(in: "authorization"))
    func `answers an authorization request as its file says`(
        file: OAuthFixture<AuthorizationCase>
    ) async throws {
        try await PlayedService.with(.memory) { service in
            try await AuthorizationPlayer(service: service, request: file.content.request)
                .play(file.content.expect)
        }
    }

    @Test(arguments: try OAuthFixture<TokenCase>.all(in: "token"), PlayedStorage.allCases)
    func `answers a token request as its file says`(
        file: OAuthFixture<TokenCase>, storage: PlayedStorage
    ) async throws {
        try await PlayedService.with(storage) { service in
            try await TokenPlayer(service: service, content: file.content).play()
        }
    }

    @Test(arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip"))
    func `answers an App Flip call as its file says`(
        file: OAuthFixture<AppFlipCase>
    ) async throws {
        try await PlayedService.with(.memory) { service in
            try await AppFlipPlayer(service: service, content: file.content).play()
        }
    }

    /// On two stores, because the prompt reads what the response would find.
    @Test(arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip-prompt"), PlayedStorage.allCases)
    func `prompts for an App Flip link as its file says, and stores nothing`(
        file: OAuthFixture<AppFlipCase>, storage: PlayedStorage
    ) async throws {
        try await PlayedService.with(storage) { service in
            try await AppFlipPromptPlayer(service: service, content: file.content).play()
        }
    }

    // What the stores do here is shown by the cases above and by their conformance suite.
    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "revocation"))
    func `answers a revocation as its file says (RFC 7009)`(file: OAuthFixture<EndpointCase>) async throws {
        try await play(file)
    }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "introspection"))
    func `answers an introspection as its file says (RFC 7662)`(file: OAuthFixture<EndpointCase>) async throws
    {
        try await play(file)
    }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "userinfo"))
    func `answers a request for userinfo as its file says`(file: OAuthFixture<EndpointCase>) async throws {
        try await play(file)
    }

    @Test(arguments: try OAuthFixture<EndpointCase>.all(in: "metadata"))
    func `publishes a document as its file says (RFC 8414)`(file: OAuthFixture<EndpointCase>) async throws {
        try await play(file)
    }

    private func play(_ file: OAuthFixture<EndpointCase>) async throws {
        try await PlayedService.with(.memory) { service in
            try await EndpointPlayer(service: service, content: file.content).play()
        }
    }
}
