import AppAttestation
import AttestationMint
import Encodings
import StrictJSON
import TestSupport
import Testing

@testable import OAuth

/// Challenges and keys of App Attest for a native client without a backend.
@Suite(.attestedApp(hasOAuth: true)) struct ClientAttestationTests {
    let app = AttestedApp.current

    private static let challenges = "/oauth/app-attest/challenges"
    private static let keys = "/oauth/app-attest/keys"

    private static func post(_ app: AttestedApp, _ path: String, _ parameters: [(String, String)])
        async throws -> ProbeResponse
    { try await OAuthEndpointTests.post(app.service, path, FormEncoding.encode(parameters)) }

    private static func challenge(_ purpose: String, _ app: AttestedApp) async throws -> String {
        let response = try await post(
            app, challenges, [("client_id", AttestedApp.client), ("purpose", purpose)])
        #expect(response.status == 201)
        #expect(response.json?["expires_in"]?.integer == 300)
        #expect(response["cache-control"] == "no-store")
        return try #require(response.json?["challenge"]?.string)
    }

    private static func register(
        _ app: AttestedApp, challenge: String? = nil, attestation: String? = nil
    ) async throws -> ProbeResponse {
        let fresh = try await self.challenge("attestation", app)
        return try await post(
            app, keys,
            [
                ("client_id", AttestedApp.client), ("key_id", app.device.keyID),
                ("attestation", try attestation ?? app.device.attestation(for: challenge ?? fresh)),
                ("challenge", challenge ?? fresh),
            ])
    }

    @Test func `an app without a backend registers a key, and proves its token requests`() async throws {
        let first = try await Self.register(app)
        #expect(first.status == 201 && first.json?["is_new_key"]?.bool == true)
        #expect(first.json?["key"]?["client_id"]?.string == AttestedApp.bundleID)
        #expect(first["cache-control"] == "no-store")
        #expect(try await Self.register(app).status == 200)
        // The key belongs to the app, so that a backend knows it too.
        #expect(try await app.register().status == 200)

        let rest = [
            ("client_id", AttestedApp.client), ("grant_type", "refresh_token"), ("refresh_token", "x"),
        ]
        let refused = try await Self.post(app, "/oauth/token", rest)
        #expect(refused.status == 401 && refused.cause == "proof_missing")
        let data = AttestedDevice.clientData(
            try await Self.challenge("assertion", app), for: FormEncoding.encode(rest))
        let proof = [
            ("attestation_key_id", app.device.keyID),
            ("attestation_assertion", try app.device.assertion(of: data, counter: 1)),
            ("attestation_client_data", data),
        ]
        // The proof holds, and the refresh token does not exist.
        let held = try await Self.post(app, "/oauth/token", rest + proof)
        #expect(held.json?["error"]?.string == "invalid_grant")
        let again = try await Self.post(app, "/oauth/token", rest + proof)
        #expect(again.json?["error"]?.string == "invalid_client" && again.status == 401)
        #expect(again.cause == "counter_not_increased")
    }

    @Test func `an attestation that does not hold is refused with its cause, and its challenge is used up`()
        async throws
    {
        let challenge = try await Self.challenge("attestation", app)
        let foreign = try app.device.attestation(for: challenge + "x")
        let refused = try await Self.register(app, challenge: challenge, attestation: foreign)
        #expect(refused.status == 401 && refused.json?["error"]?.string == "invalid_client")
        #expect(refused.cause == "nonce_mismatch" && refused.json?["re_attest"]?.bool == true)
        #expect(try await Self.register(app, challenge: challenge).cause == "challenge_used")
        let assertion = try await Self.challenge("assertion", app)
        #expect(try await Self.register(app, challenge: assertion).cause == "challenge_invalid")
        #expect(try await Self.register(app, attestation: "%").cause == "proof_malformed")
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let parameters: [(String, String)]
        let status: Int
        let error: String

        var testDescription: String { FormEncoding.encode(parameters) }
    }

    static let refusals = [
        Refusal(parameters: [], status: 401, error: "invalid_client"),
        Refusal(parameters: [("client_id", "nobody")], status: 401, error: "invalid_client"),
        Refusal(
            parameters: [("client_id", "shop"), ("client_secret", "wrong")], status: 401,
            error: "invalid_client"),
        // A client of another kind, with its right secret.
        Refusal(
            parameters: [("client_id", "shop"), ("client_secret", "shop-secret")], status: 400,
            error: "unauthorized_client"),
        Refusal(parameters: [("client_id", "desktop")], status: 400, error: "invalid_request"),
        Refusal(
            parameters: [("client_id", "desktop"), ("purpose", "both"), ("key_id", "x")], status: 400,
            error: "invalid_request"),
        Refusal(
            parameters: [
                ("client_id", "desktop"), ("purpose", "assertion"), ("purpose", "assertion"),
                ("key_id", String(repeating: "k", count: 65)), ("attestation", "x"), ("challenge", "x"),
            ], status: 400, error: "invalid_request"),
    ]

    @Test(arguments: refusals)
    func `other clients and malformed requests get the standard's error`(refusal: Refusal) async throws {
        for path in [Self.challenges, Self.keys] {
            let response = try await Self.post(app, path, refusal.parameters)
            #expect(response.status == refusal.status, "\(path)")
            #expect(response.json?["error"]?.string == refusal.error, "\(path)")
        }
    }

    @Test(.attestedApp(.off, hasOAuth: true))
    func `a client whose app is not judged has neither challenges nor keys`() async throws {
        for path in [Self.challenges, Self.keys] {
            let response = try await Self.post(
                app, path,
                [
                    ("client_id", AttestedApp.client), ("purpose", "attestation"), ("key_id", "x"),
                    ("attestation", "x"), ("challenge", "x"),
                ])
            #expect(response.status == 400 && response.json?["error"]?.string == "unauthorized_client")
        }
    }

    @Test func `a flood of attestations waits for the end of the minute`() async throws {
        let junk = [
            ("client_id", AttestedApp.client), ("key_id", "x"), ("attestation", "x"), ("challenge", "x"),
        ]
        for _ in 0..<RegistrationPace.mostOfAddress {
            let response = try await Self.post(app, Self.keys, junk)
            try #require(response.cause == "challenge_invalid")
        }
        let paused = try await Self.register(app).expecting(503)
        #expect(paused.json?["error"]?.string == "temporarily_unavailable")
        #expect(paused["retry-after"] == "60")
        // A backend with an API key goes on, and so do proofs.
        #expect(try await app.register().status == 201)
        app.service.clock.advance(by: .seconds(60))
        #expect(try await Self.register(app).status == 200)
    }
}
