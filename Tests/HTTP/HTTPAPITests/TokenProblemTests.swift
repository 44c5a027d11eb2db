import AppleIdentity
import HTTPAPI
import StrictJSON
import Testing
import TokenMint

/// Responses to each refusal of Apple's tokens.
@Suite struct TokenProblemTests {
    @Test(arguments: AppleTokenError.Code.allCases)
    func `every refusal of a token is 401 with its own code`(code: AppleTokenError.Code) async throws {
        let store = FailingStore(error: AppleTokenError(code, detail: "secret-claim-value"))
        try await RunningService.with(.init(store: store)) { service in
            let response = try await service.call("GET", "/v1/events")
            #expect(response.status == 401)
            #expect(response.code == code.rawValue)
            #expect(!response.text.contains("secret-claim-value"))
        }
    }

    @Test(arguments: [
        ("token_malformed", "not.a.token"), ("token_malformed", "a.b"), ("token_malformed", "..."),
        ("algorithm_not_allowed", "eyJhbGciOiJub25lIiwia2lkIjoiYSJ9.e30.YQ"),
        ("key_id_invalid", "eyJhbGciOiJSUzI1NiJ9.e30.YQ"),
        ("unknown_key", "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vcGUifQ.e30.YQ"),
    ])
    func `a token that is none is refused before anything else`(code: String, token: String) async throws {
        try await RunningService.with { service in
            for target in [ProblemContractTests.verify, "/v1/sign-ins"] {
                let body = Bodies.json([("identity_token", .string(token))])
                #expect(try await service.call("POST", target, body: body).code == code)
            }
            let response = try await service.call(
                "POST", "/v1/apple/notifications", body: Bodies.json([("payload", .string(token))]),
                secret: nil)
            #expect(response.status == 401)
            #expect(response.code == code)
        }
    }

    @Test func `an identity token is no notification, and the reverse`() async throws {
        try await RunningService.with { service in
            let token = try Bodies.token()
            let notified = try await service.call(
                "POST", "/v1/apple/notifications", body: Bodies.json([("payload", .string(token))]),
                secret: nil)
            #expect(notified.code == "not_a_notification")
            let payload = try TokenMint.shared.sign(TokenMint.notificationClaims())
            let verified = try await service.call(
                "POST", ProblemContractTests.verify, body: Bodies.json([("identity_token", .string(payload))])
            )
            #expect(verified.code == "not_an_identity_token")
        }
    }
}
