import AuthorizationServer
import Encodings
import HTTPAPI
import OAuthSamples
import StrictJSON
import Testing

/// Methods of sending an access token to `/oauth/userinfo`, and responses without a valid access token (RFC
/// 6750).
@Suite struct UserInfoTests {
    private static let path = "/oauth/userinfo"

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var path = UserInfoTests.path
        var method = "POST"
        var body = ""
        var type = OAuthEndpointTests.form
        var authorization: String?
        let status: Int
        /// Error code of the body; `nil` for an empty body.
        let error: String?
        let challenge: String

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "without a token there is no error code (RFC 6750 section 3.1)", status: 401, error: nil,
            challenge: #"Bearer realm="siwa""#),
        Case(
            name: "another scheme", method: "GET", authorization: "Basic c2hvcDp4", status: 401,
            error: nil, challenge: #"Bearer realm="siwa""#),
        Case(
            name: "a token in JSON is none", body: #"{"access_token":"x"}"#, type: "application/json",
            status: 401, error: nil, challenge: #"Bearer realm="siwa""#),
        Case(
            name: "an unknown token", method: "GET", authorization: "Bearer x", status: 401,
            error: "invalid_token", challenge: #"Bearer realm="siwa", error="invalid_token""#),
        Case(
            name: "a token in the query (token in the query refused)", path: path + "?access_token=x",
            method: "GET", status: 400, error: "invalid_request",
            challenge: #"Bearer realm="siwa", error="invalid_request""#),
        Case(
            name: "a token in two places", body: "access_token=x", authorization: "Bearer x", status: 400,
            error: "invalid_request", challenge: #"Bearer realm="siwa", error="invalid_request""#),
        Case(
            name: "a token twice in the form", body: "access_token=x&access_token=x", status: 400,
            error: "invalid_request", challenge: #"Bearer realm="siwa", error="invalid_request""#),
    ]

    @Test(arguments: cases)
    func `a client is told what RFC 6750 says`(test: Case) async throws {
        try await OAuthEndpointTests.with { service in
            let response = try await OAuthEndpointTests.send(
                test.method, test.path, test.body, type: test.type, authorization: test.authorization, service
            )
            #expect(response.status == test.status)
            #expect(response.json?["error"]?.string == test.error)
            if test.error == nil { #expect(response.json == .object(JSONObject([]))) }
            #expect(response["www-authenticate"] == test.challenge)
            #expect(response["cache-control"] == "no-store")
        }
    }

    @Test func `the token comes in the field or in the form`() async throws {
        try await OAuthEndpointTests.with { service in
            let (account, tokens) = try await OAuthEndpointTests.link(service)
            let access = try #require(tokens["access_token"]?.string)
            let form = try await OAuthEndpointTests.post(service, Self.path, "access_token=\(access)")
            #expect(form.json?["sub"]?.string == account)
            for method in ["GET", "POST"] {
                let response = try await service.call(
                    method, Self.path, body: method == "GET" ? nil : "", secret: access)
                #expect(response.json?["sub"]?.string == account)
            }
        }
    }
}
