import Encodings
import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The sequence diagram of `siwa dev`, of requests that no button of the console began.
@Suite(.serialized) struct ReceivedRequestsTests {
    private static let redirectURI = "/site"
    /// The example of RFC 7636 appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test func `a link in a real browser has every arrow once, in the order of time`() async throws {
        try await Self.with { system, directory in
            try await Browser.with { browser in
                try await browser.open(system.google)
                try await browser.press(each: [
                    "Link in the browser", "Continue", "Jane Appleseed", "Continue", "Agree and link",
                ])
                try await browser.wait(for: "Link 1 in the browser: linked")
            }
            let labels = try await Self.requests(at: system)
            #expect(
                labels == [
                    "Google to Browser, app: Google opens the authorization URL, RFC 6749 §4.1.1",
                    "Browser, app to siwa: Open siwa's page, RFC 6749 §4.1.1",
                    "Browser, app to Apple: Open Apple's page, OpenID Connect Core §3.1.2",
                    "Browser, app to Apple: Choose an account, OpenID Connect Core §3.1.2",
                    "Browser, app to Apple: The user agrees, OpenID Connect Core §3.1.2",
                    "Browser, app to siwa: Bring Apple's answer, OAuth 2.0 Form Post Response Mode §2",
                    "Browser, app to siwa: Finish the sign-in, OpenID Connect Core §3.1.2.5",
                    "Browser, app to siwa: Open siwa's page, RFC 6749 §4.1.1",
                    "Browser, app to siwa: The user agrees, OpenID Connect Core §3.1.2.4",
                    "Browser, app to Google: The answer at the redirect URI, RFC 6749 §4.1.2",
                    // siwa has received it too, and its own record of it is not a second arrow.
                    "Google to siwa: Google exchanges the code, RFC 6749 §4.1.3",
                ])
        }
    }

    @Test func `an app, its backend and a program that plays Google are in the diagram`() async throws {
        try await Self.with { system, directory in
            let redirectURI = "\(system.apple)\(Self.redirectURI)"
            let query = FormEncoding.encode([
                (name: "client_id", value: DevelopmentClients.web), ("redirect_uri", redirectURI),
                ("scope", "openid offline_access"), ("response_type", "code"), ("state", "s"),
                ("code_challenge", Self.challenge), ("code_challenge_method", "S256"),
            ])
            let browser = ScriptedBrowser(
                subject: "default", service: system.service, apple: system.apple, google: nil)
            let end = try await browser.follow("\(system.service)/oauth/authorize?\(query)")
            let code = try #require(ScriptedBrowser.parameter("code", of: end))
            let basic = Base64.encode(Array("\(DevelopmentClients.web):\(DevelopmentClients.webSecret)".utf8))
            #expect(
                try await Self.post(
                    "\(system.service)/oauth/token",
                    [
                        ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
                        ("code_verifier", Self.verifier),
                    ], authorization: "Basic \(basic)") == 200)
            // Google's client with a code that does not exist.
            #expect(
                try await Self.post(
                    "\(system.service)/oauth/token",
                    [
                        ("grant_type", "authorization_code"), ("code", "none"),
                        ("client_id", DevelopmentClients.google),
                        ("client_secret", DevelopmentClients.googleSecret), ("redirect_uri", redirectURI),
                    ]) == 400)
            let backend = system.backend
            #expect(try await backend.post("/v1/sign-ins", [("identity_token", "a.b.c")]).status == 401)

            let labels = try await Self.requests(at: system)
            #expect(
                labels == [
                    "Browser, app to siwa: Open siwa's page, RFC 6749 §4.1.1",
                    "Browser, app to Apple: Open Apple's page, OpenID Connect Core §3.1.2",
                    "Browser, app to Apple: The user agrees, OpenID Connect Core §3.1.2",
                    "Browser, app to siwa: Bring Apple's answer, OAuth 2.0 Form Post Response Mode §2",
                    "Browser, app to siwa: Finish the sign-in, OpenID Connect Core §3.1.2.5",
                    "Browser, app to siwa: Open siwa's page, RFC 6749 §4.1.1",
                    "Browser, app to siwa: The user agrees, OpenID Connect Core §3.1.2.4",
                    "Browser, app to siwa: Exchange the code, RFC 6749 §4.1.3",
                    "Google to siwa: Exchange the code, RFC 6749 §4.1.3",
                    "Browser, app to siwa: Sign in with the token, OpenID Connect Core §3.1.3.7",
                ])
            // The page of an arrow has the tokens decoded, and leads to the request.
            let page = try await Self.page("/console/world/exchanges", at: system)
            let path = try #require(
                page.matches(of: #/<a href="([^"]*)" aria-label="([^"]*)"/#)
                    .first { $0.2.contains("Browser, app to siwa: Exchange the code") }?.1)
            let exchange = try await Self.page(String(path), at: system)
            #expect(exchange.contains("https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3"))
            #expect(exchange.contains("code_verifier"))
            #expect(exchange.contains("The id_token is signed") && exchange.contains("&quot;iss&quot;"))
            for secret in [code, basic, Self.verifier] { #expect(!exchange.contains(secret)) }
            #expect(exchange.firstMatch(of: #/eyJ[A-Za-z0-9_\-]{20}/#) == nil)
            let request = try #require(exchange.firstMatch(of: #/href="(/console/requests/[0-9]+)"/#)?.1)
            #expect(try await Self.page(String(request), at: system).contains("POST /oauth/token"))
        }
    }

    // MARK: -

    private static func with(
        _ body: @Sendable (DevelopmentProcess, TemporaryDirectory) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--check-interval", "3600"], in: directory) {
                try await body($0, directory)
            }
        }
    }

    /// The arrows of requests without their times, and without what siwa and the fakes ask in the background.
    private static func requests(at system: DevelopmentProcess) async throws -> [String] {
        try await page("/console/world/exchanges", at: system)
            .matches(of: #/<a href="[^"]*" aria-label="\d\d:\d\d:\d\d\.\d{3} ([^"]*)"/#)
            .map { String($0.1).replacing("&#39;", with: "'") }
            .filter { !$0.hasPrefix("siwa to Apple") && !$0.contains("Fetch siwa's keys") }
    }

    private static func page(_ path: String, at system: DevelopmentProcess) async throws -> String {
        try await system.console.get(path)
    }

    private static func post(
        _ url: String, _ fields: [(name: String, value: String)], authorization: String? = nil
    ) async throws -> UInt {
        try await TestClient.send(
            .POST, url, headers: authorization.map { [("Authorization", $0)] } ?? [], form: fields
        ).status
    }
}
