import Encodings
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

/// Attacks on `/oauth/token` that the request alone can carry out. Attacks with an earlier code or token are
/// played against the service.
@Suite struct TokenAttackTests {
    private func refusal(_ body: String, query: String? = nil) throws -> TokenEndpointError {
        let clients = try OAuthSettings.sample().clients
        return try #require(throws: TokenEndpointError.self) {
            try UnauthenticatedTokenRequest(
                body: body.utf8, contentType: "application/x-www-form-urlencoded", authorization: nil,
                query: query?.utf8
            ).authenticated(in: clients)
        }
    }

    @Test(arguments: [
        "client_id=shop&client_secret=shop-secret", "code=siwa_ac_x", "refresh_token=siwa_rt_x", "x=1",
    ])
    func `token in the query refused: nothing is read from a URL`(query: String) throws {
        let body = "grant_type=refresh_token&refresh_token=x&client_id=desktop"
        #expect(try refusal(body, query: query).error.code == .invalidRequest)
    }

    @Test(arguments: ["devices", "openid devices", "email admin", "OPENID"])
    func `scope escalation at refresh: only the client's own scopes can be asked for`(scope: String) throws {
        let body =
            "grant_type=refresh_token&refresh_token=x&client_id=desktop&scope=\(QueryText.encode(scope))"
        #expect(try refusal(body).error.code == .invalidScope)
    }

    @Test func `existence oracle: a wrong code, a wrong token and a wrong client say nothing more`() throws {
        let short = try refusal("grant_type=authorization_code&code=%FF&client_id=desktop")
        let long = try refusal(
            "grant_type=refresh_token&client_id=desktop&refresh_token=" + String(repeating: "x", count: 513))
        #expect(short.error.explanation == long.error.explanation)
        #expect(short.error.code == .invalidGrant && long.error.code == .invalidGrant)
    }

    @Test(arguments: RequestParameter.allCases)
    func `error text with markup: no part of a request comes into an answer`(parameter: RequestParameter)
        throws
    {
        let markup = QueryText.encode("\"><script>\r\n\u{E9}")
        let refusal = try refusal("\(parameter.rawValue)=\(markup)&client_id=desktop&grant_type=x")
        #expect(isDescription(refusal.error.explanation))
        #expect(!String(decoding: refusal.error.json, as: UTF8.self).contains("<"))
    }

    @Test func `a secret in a description: requests do not show what they have`() throws {
        let request = try UnauthenticatedTokenRequest(
            body: "grant_type=authorization_code&code=hush&client_id=shop&client_secret=shop-secret".utf8,
            contentType: "application/x-www-form-urlencoded", authorization: nil, query: String?.none?.utf8)
        let accepted = try request.authenticated(in: try OAuthSettings.sample().clients)
        var dumped = ""
        dump(request, to: &dumped)
        dump(accepted, to: &dumped)
        let said = "\(request)\(accepted)\(accepted.grant)\(String(reflecting: accepted))\(dumped)"
        #expect(!said.contains("hush") && !said.contains("shop-secret"))
    }
}
