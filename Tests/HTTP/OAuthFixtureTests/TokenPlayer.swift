import Foundation
import Testing

@testable import OAuthFixtures

/// Plays a request to `/oauth/token`: the given state, the request, its response, and the codes and tokens
/// afterwards.
struct TokenPlayer {
    let service: PlayedService
    let content: TokenCase

    func play() async throws {
        let expect = content.expect
        let given = try await service.prepare(content.given)
        let response = try await send(given)
        let status = try #require(expect.status)
        #expect(response.status == status, "\(response.text)")
        response.expectNoStore()
        try await expectReason()
        #expect(response["pragma"] == "no-cache")
        let challenge = response["www-authenticate"]
        #expect(challenge?.hasPrefix("Basic realm=") ?? false == expect.wwwAuthenticate ?? false)
        #expect((challenge == nil) == (expect.wwwAuthenticate == nil))
        let members = try response.object()
        #expect([expect.error, expect.scope].count { $0 != nil } + (expect.linking == nil ? 0 : 1) == 1)
        if let error = expect.error { expectError(members, error) }
        if let linking = expect.linking { #expect(members as? [String: String] == linking) }
        if expect.scope != nil { try await expectTokens(members, given) }
        if var given {
            take(members, &given)
            try await AfterwardsPlayer(service: service, given: given)
                .play(expect.afterwards)
        } else {
            #expect(expect.afterwards == nil)
        }
    }

    private func send(_ given: GivenTokens?) async throws -> PlayedResponse {
        let request = content.request
        var body = request.body
        for name in ["{code}", "{refresh_token}", "{assertion}", "{subject_token}", "{device_code}"] {
            body = body.replacing(name, with: given?.value ?? "x")
        }
        body = body.replacing("{nonce}", with: given?.nonce ?? "siwa-nonce-x")
        var fields: [String: String] = [:]
        fields["Content-Type"] = request.contentType
        fields["Authorization"] = request.authorization
        let query = request.query.map { "?\($0)" } ?? ""
        return try await service.send("POST", "/oauth/token\(query)", fields, body: body)
    }

    /// Checks the reason in the metrics: the response does not have it, because this is no development.
    private func expectReason() async throws {
        let name = "siwa_oauth_token_refusals_total"
        let metrics = try await service.send(
            "GET", "/metrics", ["Authorization": "Bearer \(FixtureDeployment.secret(of: nil))"])
        let counted = metrics.text.split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("\(name){") && !$0.hasSuffix(" 0") }
            .map { $0.drop { $0 != "," } }
        #expect(counted == (content.expect.reason.map { [",reason=\"\($0)\"} 1"] } ?? []))
    }

    private func expectError(_ members: [String: any Sendable], _ error: String) {
        #expect(members["error"] as? String == error)
        #expect(Set(members.keys).isSubset(of: ["error", "error_description"]))
        #expect((members["error_description"] as? String).map(isDescription) ?? true)
    }

    private func expectTokens(_ members: [String: any Sendable], _ given: GivenTokens?) async throws {
        let expect = content.expect
        let tokens = try #require(expect.tokens)
        let isExchange = expect.grant?.type == "token-exchange"
        #expect(
            Set(members.keys)
                == Set(
                    tokens + ["token_type", "expires_in", "scope"]
                        + (isExchange ? ["issued_token_type"] : [])))
        // RFC 8693 §2.2.1.
        if isExchange {
            #expect(
                members["issued_token_type"] as? String == "urn:ietf:params:oauth:token-type:access_token")
        }
        #expect(members["token_type"] as? String == "Bearer")
        #expect(members["scope"] as? String == expect.scope)
        let token = try #require(members["access_token"] as? String)
        let check = IssuedTokenCheck(service: service, account: given?.account)
        try await check.expectAccessToken(
            token, expect.accessToken, scope: try #require(expect.scope),
            lifetime: try #require(members["expires_in"] as? Int))
        if let idToken = members["id_token"] as? String {
            try await check.expectIDToken(
                idToken, expect.idToken, nonce: content.given?.nonce, accessToken: token)
        } else {
            #expect(expect.idToken == nil)
        }
        if let refreshToken = members["refresh_token"] as? String {
            #expect(refreshToken != given?.value)
        }
    }

    /// Adds the tokens of the response, which belong to the same token family.
    private func take(_ members: [String: any Sendable], _ given: inout GivenTokens) {
        guard let token = members["access_token"] as? String else { return }
        given.tokens.append(token)
        guard let refreshToken = members["refresh_token"] as? String else { return }
        given.tokens.removeAll { $0.hasPrefix("siwa_rt_") }
        given.tokens.append(refreshToken)
    }
}
