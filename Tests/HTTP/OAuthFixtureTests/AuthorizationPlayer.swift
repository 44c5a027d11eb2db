import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import SignIn
import StrictJSON
import TestSupport
import Testing

@testable import OAuthFixtures

/// Plays a request to `/oauth/authorize` in a browser, up to the tokens for a valid request.
struct AuthorizationPlayer {
    let service: PlayedService
    let request: AuthorizationCase.Request

    private static let longestHead = 16_384

    func play(_ expect: AuthorizationCase.Expectation) async throws {
        #expect([expect.page == nil, expect.redirect == nil, expect.proceed == nil].count { !$0 } == 1)
        if let page = expect.page {
            let response = try await FixtureBrowser(service, request).open(request)
            // Heads are bounded on every connection, before a route is looked for (RFC 6585 §5).
            guard (request.query ?? "").utf8.count <= Self.longestHead else {
                #expect(response.status == 431)
                return
            }
            #expect(response.status == page.status)
            #expect(response["location"] == nil)
            expectPage(response)
            #expect(response.text.contains(page.error))
        }
        if let redirect = expect.redirect {
            let response = try await FixtureBrowser(service, request).open(request)
            try expectError(
                response, redirect.error, at: redirect.uri, state: redirect.state, iss: redirect.iss)
        }
        if let proceed = expect.proceed { try await play(proceed) }
    }

    private func play(_ proceed: AuthorizationCase.Proceed) async throws {
        let browser = FixtureBrowser(service, request)
        let page = try await consentPage(proceed, browser)
        try expectConsent(page, proceed)
        let agreed = try await browser.agree(page)
        try await redeem(try code(agreed, proceed), proceed)
        try await playAgain(proceed, browser)
    }

    /// Goes from the request to the consent page. Before a request that must not go to Apple, the user signs
    /// in; before `prompt=none`, the user also agrees.
    private func consentPage(
        _ proceed: AuthorizationCase.Proceed, _ browser: FixtureBrowser
    ) async throws -> ConsentForm {
        let first = try await browser.open(request)
        let prompts = proceed.prompt ?? []
        let size = (request.query ?? request.form ?? "").utf8.count
        let isTooLongForApple = size > WebSignIn.longestQuery
        guard prompts.contains("none") || isTooLongForApple else {
            if let age = proceed.maxAge { try await expectTooOld(age, proceed) }
            return try ConsentForm(try await browser.signIn(after: first))
        }
        try expectError(
            first, isTooLongForApple ? "invalid_request" : "login_required", at: proceed.redirectUri,
            state: proceed.state, iss: FixtureDeployment.issuer)
        let short = try query(proceed)
        let page = try ConsentForm(try await browser.signIn(after: try await browser.open(query: short)))
        guard prompts.contains("none") else { return try ConsentForm(try await browser.open(request)) }
        try expectError(
            try await browser.open(request), "consent_required", at: proceed.redirectUri,
            state: proceed.state, iss: FixtureDeployment.issuer)
        return page
    }

    /// Checks an authentication that is a second older than `max_age` allows.
    private func expectTooOld(_ age: Int64, _ proceed: AuthorizationCase.Proceed) async throws {
        let browser = FixtureBrowser(service, request)
        let redirect = try await browser.open(request)
        let old = service.now.advanced(byMilliseconds: -(age + 1) * 1000)
        let back = try await browser.signIn(after: redirect, authenticatedAt: old)
        try expectError(
            back, "login_required", at: proceed.redirectUri, state: proceed.state,
            iss: FixtureDeployment.issuer)
    }

    private func expectConsent(_ page: ConsentForm, _ proceed: AuthorizationCase.Proceed) throws {
        let client = try service.deployment.client(proceed.client)
        #expect(page.language == proceed.language)
        #expect(page.policy.contains("frame-ancestors 'none'"))
        let target = formTarget(proceed.redirectUri)
        #expect(page.policy.contains("form-action 'self' \(target)"), "\(page.policy)")
        if let hint = proceed.loginHint { #expect(page.text.contains(hint)) }
        let optional = service.deployment.oauth.scopes.declarations(of: client.scopes)
            .filter(\.isOptional).map(\.token.rawValue)
        let asked = proceed.scope.split(separator: " ").map { String($0) }
        #expect(page.checkboxes == asked.filter { optional.contains($0) }.map { "scope:\($0)" })
    }

    /// Source of a content security policy for the target of a redirect.
    private func formTarget(_ uri: String) -> String {
        let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
        // A host source cannot be an IPv6 address.
        let hasHost = parts.count > 2 && parts[1].isEmpty && !parts[2].hasPrefix("[")
        return hasHost ? parts.prefix(3).joined(separator: "/") : String(uri.prefix { $0 != ":" }) + ":"
    }

    /// Plays the same request again: the user is signed in and has agreed.
    private func playAgain(_ proceed: AuthorizationCase.Proceed, _ browser: FixtureBrowser) async throws {
        let again = try await browser.open(request)
        let prompts = Set(proceed.prompt ?? [])
        // The consent of native apps is not remembered, nor the one of a link with Google.
        let isRemembered = try service.deployment.client(proceed.client).kind.remembersConsent
        if !prompts.isDisjoint(with: ["login", "select_account"]) || proceed.maxAge == 0 {
            #expect(again["location"]?.hasPrefix(FixtureBrowser.apple) == true)
        } else if prompts.contains("consent") || !isRemembered || !proceed.redirectUri.hasPrefix("https:") {
            _ = try ConsentForm(again)
        } else {
            _ = try code(again, proceed)
        }
    }

    private func code(_ response: PlayedResponse, _ proceed: AuthorizationCase.Proceed) throws -> String {
        #expect(response.status == 303)
        response.expectNoStore()
        #expect(response["referrer-policy"] == "no-referrer")
        let location = try #require(response["location"])
        let parameters = try Location(location, of: proceed.redirectUri).parameters
        #expect(parameters["state"] == proceed.state)
        #expect(parameters["iss"] == "https%3A%2F%2Faccounts.example.com")
        #expect(parameters.count == (proceed.state == nil ? 2 : 3))
        return try #require(parameters["code"])
    }

    /// Redeems the code, with the values that the code is bound to.
    private func redeem(_ code: String, _ proceed: AuthorizationCase.Proceed) async throws {
        var form = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": proceed.redirectUri,
            "client_id": proceed.client,
        ]
        form["client_secret"] = service.deployment.secrets[proceed.client]?.first
        if let challenge = proceed.codeChallenge {
            let isPlain = proceed.codeChallengeMethod == "plain"
            let missing = try await service.post("/oauth/token", form)
            #expect(missing.status == 400)
            form["code_verifier"] = ProofKeySample.verifier
            guard challenge == (isPlain ? ProofKeySample.verifier : ProofKeySample.challenge) else {
                #expect(try await service.post("/oauth/token", form).status == 400)
                return
            }
        }
        let response = try await service.post("/oauth/token", form)
        try #require(response.status == 200, "\(response.text)")
        let tokens = try response.object()
        #expect(tokens["scope"] as? String == proceed.scope)
        let hasIDToken = proceed.scope.split(separator: " ").contains("openid")
        #expect((tokens["id_token"] != nil) == hasIDToken)
        if let token = tokens["id_token"] as? String {
            #expect(try ReadToken(token).claims["nonce"] as? String == proceed.nonce)
        }
    }

    /// A valid request of the same client, which goes to Apple and back.
    private func query(_ proceed: AuthorizationCase.Proceed) throws -> String {
        var parameters = [
            "client_id": proceed.client, "redirect_uri": proceed.redirectUri, "response_type": "code",
            "scope": proceed.scope,
        ]
        parameters["code_challenge"] = proceed.codeChallenge
        parameters["code_challenge_method"] = proceed.codeChallengeMethod
        let query = parameters.map { "\($0.key)=\(PlayedService.encode($0.value))" }.joined(separator: "&")
        // It is written as it must come back. A very long one cannot travel.
        guard let state = proceed.state, state.utf8.count < 512 else { return query }
        return "\(query)&state=\(state)"
    }

    private func expectError(
        _ response: PlayedResponse, _ error: String, at uri: String, state: String?, iss: String?
    ) throws {
        #expect(iss == nil || iss == FixtureDeployment.issuer)
        #expect(response.status == 303)
        response.expectNoStore()
        #expect(response["referrer-policy"] == "no-referrer")
        #expect(response.body.isEmpty)
        let location = try #require(response["location"], "\(response.text)")
        let parameters = try Location(location, of: uri).parameters
        #expect(parameters["error"] == error)
        #expect(parameters["state"] == state)
        #expect(parameters["iss"] == iss.map { _ in "https%3A%2F%2Faccounts.example.com" })
        let description = try #require(parameters["error_description"]?.removingPercentEncoding)
        #expect(isDescription(description))
        #expect(parameters.count == 2 + (state == nil ? 0 : 1) + (iss == nil ? 0 : 1))
    }

    private func expectPage(_ response: PlayedResponse) {
        response.expectNoStore()
        #expect(response["content-type"] == "text/html; charset=utf-8")
        #expect(response["referrer-policy"] == "no-referrer")
        #expect(response["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        #expect(response["content-security-policy"]?.contains("default-src 'none'") == true)
    }
}

/// The example of RFC 7636, appendix B.
enum ProofKeySample {
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}

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
    func signIn(after redirect: PlayedResponse, authenticatedAt: Moment? = nil) async throws -> PlayedResponse
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
