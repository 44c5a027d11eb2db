import Testing

@testable import OAuthFixtures

/// Every fixture of OAuth against the whole service, over HTTP.
///
/// Token requests are played on two stores, because their outcome depends on what is stored. All stores pass the
/// same conformance suite.
@Suite(.timeLimit(.minutes(5))) struct FixturePlayTests {
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
}
