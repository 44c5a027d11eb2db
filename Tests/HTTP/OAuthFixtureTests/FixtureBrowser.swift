import AppleAccounts
import Cryptography
import Encodings
import Foundation
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuthFixtures

/// A browser at the authorization endpoint, with its cookies and Apple's role.
final class FixtureBrowser {
    static let apple = "https://appleid.apple.com/auth/authorize?"

    private let service: PlayedService
    private let fields: [String: String]
    private var cookies: [String: String] = [:]

    init(_ service: PlayedService, _ request: AuthorizationCase.Request) {
        self.service = service
        var fields: [String: String] = [:]
        fields["User-Agent"] = request.userAgent
        fields["Accept-Language"] = request.acceptLanguage
        self.fields = fields
    }

    /// Sends the request of a case. A POST is redirected to a GET, which is followed.
    func open(_ request: AuthorizationCase.Request) async throws -> PlayedResponse {
        guard request.method == "POST" else {
            return try await send("GET", "/oauth/authorize?\(request.query ?? "")")
        }
        let turned = try await post("/oauth/authorize", form: request.form ?? "")
        guard turned.status == 303, let location = turned["location"], location.hasPrefix("/oauth/authorize?")
        else { return turned }
        turned.expectNoStore()
        return try await send("GET", location)
    }

    func open(query: String) async throws -> PlayedResponse {
        try await send("GET", "/oauth/authorize?\(query)")
    }

    func post(_ target: String, form: String) async throws -> PlayedResponse {
        // As a page without a referrer sends it.
        let type = ["Content-Type": "application/x-www-form-urlencoded", "Origin": "null"]
        return try await send("POST", target, type, body: form)
    }

    /// Presses the button of a consent page, with all boxes ticked.
    func agree(_ page: ConsentForm) async throws -> PlayedResponse {
        let fields = [("csrf_token", page.token), ("decision", "agree")] + page.checkboxes.map { ($0, "1") }
        let form = fields.map { "\($0.0)=\(PlayedService.encode($0.1))" }.joined(separator: "&")
        return try await post(page.action, form: form)
    }

    /// Follows the response to Apple's page, signs in there, and returns to the authorization endpoint.
    func signIn(after redirect: PlayedResponse, authenticatedAt: Moment? = nil) async throws
        -> PlayedResponse
    {
        let location = try #require(redirect["location"])
        try #require(redirect.status == 303 && location.hasPrefix(Self.apple), "\(location)")
        let asked = try #require(URLComponents(string: location)).queryItems ?? []
        func parameter(_ name: String) throws -> String {
            try #require(asked.first { $0.name == name }?.value)
        }
        let code = "c1234567890.0.abcd.EFGH-ijkl_mnop"
        let user = PlayedUser(service: service, app: try parameter("client_id"))
        let nonce = try parameter("nonce")
        let token = try user.identityToken(authenticatedAt: authenticatedAt) { claims in
            claims["nonce"] = .string(nonce)
            claims["c_hash"] = .string(Base64URL.encode(SHA256Digest.hash(code).prefix(16)))
        }
        let posted = try await service.post(
            "/v1/web/callback", ["state": try parameter("state"), "code": code, "id_token": token],
            ["Origin": "https://appleid.apple.com"])
        let finish = try #require(posted["location"], "\(posted.text)")
        try #require(finish.hasPrefix(FixtureDeployment.issuer))
        let finished = try await send("GET", String(finish.dropFirst(FixtureDeployment.issuer.count)))
        let back = try #require(finished["location"], "\(finished.text)")
        try #require(back.hasPrefix("/oauth/authorize?"))
        return try await send("GET", back)
    }

    private func send(
        _ method: String, _ target: String, _ more: [String: String] = [:], body: String? = nil
    ) async throws -> PlayedResponse {
        var fields = fields.merging(more) { $1 }
        if !cookies.isEmpty {
            fields["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        let response = try await service.send(method, target, fields, body: body)
        if let set = response["set-cookie"] {
            let pair = set.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(pair[0])] = set.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return response
    }
}

/// The consent page as a browser reads it.
struct ConsentForm {
    let text: String
    let action: String
    let token: String
    let checkboxes: [String]
    let language: String
    let policy: String

    init(_ response: PlayedResponse) throws {
        try #require(response.status == 200, "\(response["location"] ?? response.text)")
        text = response.text
        action = try #require(text.firstMatch(of: #/method="post" action="([^"]*)"/#)).1.htmlUnescaped
        token = String(try #require(text.firstMatch(of: #/name="csrf_token" value="([^"]*)"/#)).1)
        checkboxes = text.matches(of: #/type="checkbox" name="([^"]*)"/#).map { $0.1.htmlUnescaped }
        language = String(try #require(text.firstMatch(of: #/<html lang="([^"]*)"/#)).1)
        policy = try #require(response["content-security-policy"])
    }
}
