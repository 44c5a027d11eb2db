import Cryptography
import Encodings
import Foundation
import NIOHTTP1
import TestSupport
import Testing

@testable import siwa

/// The native app `siwa-cli` of `siwa dev`, whose user agrees in a browser: a public client with a proof key.
struct NativeApp: Sendable {
    struct Tokens: Sendable {
        let access: String
        let refresh: String
        let id: String
    }

    let system: DevelopmentProcess
    /// Nothing listens there: the test reads the code from the browser's request.
    private let redirectURI: String
    private let verifier = Base64URL.encode(SecureRandom.bytes(count: 32))

    init(of system: DevelopmentProcess) throws {
        self.system = system
        redirectURI = "http://127.0.0.1:\(try FreePort.find())"
    }

    /// Gets tokens for the user who has a session in this browser.
    func signIn(_ browser: Browser) async throws -> Tokens {
        let challenge = Base64URL.encode(SHA256Digest.hash(verifier).bytes)
        let query = FormEncoding.encode([
            (name: "response_type", value: "code"), ("client_id", DevelopmentClients.native),
            ("redirect_uri", redirectURI), ("scope", "openid email offline_access"), ("state", "s-1"),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ])
        _ = try await browser.departures()
        try await browser.open("\(system.service)/oauth/authorize?\(query)")
        try await browser.press("Allow")
        var code: String?
        try await eventually {
            let back = try await browser.departures().last { $0.hasPrefix(redirectURI) }
            code = OAuthReplica.parameter("code", of: back) ?? code
            return code != nil
        }
        return try await tokens([
            ("grant_type", "authorization_code"), ("code", try #require(code)),
            ("redirect_uri", redirectURI), ("code_verifier", verifier),
        ])
    }

    /// Refreshes, which rotates the refresh token.
    func refresh(_ tokens: Tokens) async throws -> Tokens {
        try await self.tokens(
            [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh)], id: tokens.id)
    }

    /// The error of a refresh that is refused.
    func refusal(of token: String) async throws -> String? {
        try await ask([("grant_type", "refresh_token"), ("refresh_token", token)]).error
    }

    /// - Parameter id: The ID token of the sign-in, because a refresh gives none.
    private func tokens(_ fields: OAuthReplica.Fields, id: String? = nil) async throws -> Tokens {
        let response = try await ask(fields)
        #expect(response.status == 200, "\(response.text)")
        return Tokens(
            access: try #require(response["access_token"]), refresh: try #require(response["refresh_token"]),
            id: try #require(response["id_token"] ?? id))
    }

    private func ask(_ fields: OAuthReplica.Fields) async throws -> OAuthReplica.Response {
        try await OAuthReplica.send(
            .POST, "\(system.service)/oauth/token",
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(
                FormEncoding.encode([("client_id", DevelopmentClients.native)] + fields).utf8))
    }
}
