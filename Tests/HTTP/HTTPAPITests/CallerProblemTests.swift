import AppleAccounts
import AppleIdentity
import Commits
import HTTPAPI
import JOSE
import KeySets
import SignIn
import StrictJSON
import Testing
import TokenMint

/// Responses to callers without an API key, or with a limited API key.
@Suite(.service()) struct CallerProblemTests {
    let service = RunningService.current

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer wrong", "Basic \(RunningService.secret)", RunningService.secret,
        "Bearer  ", "Bearer\t\(RunningService.secret)", "Bearer a \(RunningService.secret)",
        "Bearer \(String(repeating: "a", count: 600))",
    ])
    func `a caller without a key is told how to come`(authorization: String) async throws {
        let answer = try await service.get(
            "/v1/events", secret: nil, fields: ["Authorization": authorization])
        #expect(answer.outcome == "401 caller_unauthenticated")
        #expect(answer["www-authenticate"]?.hasPrefix("Bearer") == true)
        #expect(!answer.text.contains(RunningService.secret))
    }

    @Test(arguments: ["Bearer KEY", "bearer KEY ", "BEARER  KEY", "Bearer    KEY\t "])
    func `one space or several are before a token`(field: String) async throws {
        let answer = try await service.get(
            "/v1/events", secret: nil,
            fields: ["Authorization": field.replacing("KEY", with: RunningService.secret)])
        #expect(answer.status == 200)
    }

    @Test func `two keys are no key`() async throws {
        let request = RunningService.request("GET", "/v1/events").replacingHead(
            with: "Authorization: Bearer \(RunningService.secret)\r\n")
        let answer = try await ProbeConnection.with(port: service.port) { connection in
            try await connection.send(request)
            return try await connection.response()
        }
        #expect(answer.code == "caller_unauthenticated")
    }

    @Test func `a limited key sees its own app only`() async throws {
        let secret = RunningService.limitedSecret
        let signedIn = try await service.signIn()
        let id = try #require(signedIn.json?["account"]?["id"]?.string)
        let foreign = try await service.get(
            "/v1/credentials/s?client_id=\(TokenMint.clientID)", secret: secret)
        #expect(foreign.outcome == "403 caller_forbidden")
        let own = try await service.get(
            "/v1/credentials/s?client_id=\(RunningService.secondClientID)", secret: secret)
        #expect(own.status == 200)
        let token = try await service.post(
            ProblemContractTests.verify, body: try Bodies.identityToken(), secret: secret)
        #expect(token.code == "caller_forbidden")
        let events = try await service.get("/v1/events", secret: secret)
        #expect(events.json?["events"]?.array == [])
        let path = "/v1/accounts?client_id=\(RunningService.secondClientID)&sub=\(TokenMint.subject)"
        for target in ["/v1/accounts/\(id)", path] {
            #expect(try await service.get(target, secret: secret).outcome == "404 account_not_found")
        }
        let body = try Bodies.identityToken { $0["aud"] = .string(RunningService.secondClientID) }
        #expect(try await service.post("/v1/sign-ins", body: body, secret: secret).status == 200)
        for target in ["/v1/accounts/\(id)", path] {
            let account = try await service.get(target, secret: secret)
            #expect(account.json?["id"]?.string == id)
            #expect(account.json?["credentials"]?.array?.count == 1)
        }
    }

    @Test func `the key for the metrics opens the metrics, and nothing else`() async throws {
        let secret = APIKeySecret.make()
        let caller = APIKey(name: "backend", hash: APIKeySecret.hash(RunningService.secret), scope: .all)
        let callers = CallerDirectory(keys: [caller], metricsKey: APIKeySecret.hash(secret))
        try await RunningService.with(.init(callers: callers)) { service async throws in
            #expect(try await service.get("/metrics", secret: secret).status == 200)
            #expect(try await service.get("/metrics", secret: RunningService.secret).status == 200)
            #expect(try await service.get("/metrics", secret: APIKeySecret.make()).status == 401)
            #expect(try await service.get("/metrics", secret: nil).status == 401)
            for target in ["/v1/events", "/v1/accounts/acc_01a1fbea-fd31-70c4-8d21-64a7bb3d2a10"] {
                #expect(try await service.get(target, secret: secret).code == "caller_unauthenticated")
            }
        }
    }

    @Test func `a deployment without callers' keys lets everybody in only when it is told to`() async throws {
        try await RunningService.with(.init(callers: .open)) { service async throws in
            #expect(try await service.get("/v1/events", secret: nil).status == 200)
        }
        try await RunningService.with(.init(callers: CallerDirectory(keys: []))) { service async throws in
            #expect(try await service.get("/v1/events", secret: nil).status == 401)
        }
    }
}

extension String {
    /// The same request with one more field in front of the others.
    fileprivate func replacingHead(with field: String) -> String {
        guard let line = firstRange(of: "\r\n") else { return self }
        return String(self[..<line.upperBound]) + field + String(self[line.upperBound...])
    }
}

/// Responses to callers when the service cannot do its work.
@Suite struct FailureProblemTests {
    private var service: RunningService { .current }

    @Test(arguments: [
        (StorageError.Code.unavailable, 503), (.busy, 503), (.full, 503), (.readOnly, 503), (.corrupted, 503),
        (.schemaTooNew, 503), (.migrationFailed, 503), (.valueRefused, 500),
    ]) func `a failing database is said to fail, with nothing about it`(code: StorageError.Code, status: Int)
        async throws
    {
        let store = FailingStore(error: StorageError(code, detail: "SELECT secret"))
        try await RunningService.with(.init(store: store)) { service in
            let response = try await service.signIn()
            #expect(response.status == status)
            #expect(response.code == (status == 503 ? "storage_unavailable" : "internal_error"))
            #expect((response["retry-after"] != nil) == (status == 503))
            #expect(!response.text.contains("SELECT"))
            let ready = try await service.get("/readyz", secret: nil)
            #expect(ready.status == status)
            #expect(ready.json?["cause"]?.string == code.rawValue)
            #expect(response.json?["cause"] == nil, "callers learn nothing of the database")
            #expect(try await service.get("/livez", secret: nil).status == 200)
            #expect(try await service.get("/health", secret: nil).status == 503)
        }
    }

    @Test(.service(.init(store: FailingStore(error: OverloadedError()))))
    func `too much waiting work is told to come back`() async throws {
        let response = try await service.get("/v1/events")
        #expect(response.outcome == "503 overloaded")
        #expect(response["retry-after"] == "1")
    }

    @Test(.service(.init(keys: NoKeys())))
    func `without keys no token is accepted and none is refused`() async throws {
        let verified = try await service.post(
            ProblemContractTests.verify, body: try Bodies.identityToken())
        #expect(verified.outcome == "503 keys_unavailable")
        #expect(verified["retry-after"] != nil)
        let notified = try await service.post(
            "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        #expect(notified.status == 503)
        let ready = try await service.get("/readyz", secret: nil)
        #expect(ready.outcome == "503 keys_unavailable")
        #expect(ready.json?["cause"]?.string == "unreachable")
    }

    @Test func `a key that no fetch has looked for is told when to come back`() async throws {
        struct CoolingKeys: VerificationKeys {
            func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
            func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
                throw KeySetError(.keysUnavailable, retryAfter: 17)
            }
            var health: KeySetHealth { KeySetHealth(status: .ready, keyCount: 1) }
        }
        try await RunningService.with(.init(keys: CoolingKeys())) { service in
            let verified = try await service.post(
                ProblemContractTests.verify, body: try Bodies.identityToken())
            #expect(verified.code == "keys_unavailable")
            #expect(verified["retry-after"] == "17")
        }
    }

    struct Mishap: Error {}

    @Test(.service(.init(store: FailingStore(error: Mishap()))))
    func `an unexpected error is a problem too, and its words stay inside`() async throws {
        #expect(try await service.get("/v1/events").outcome == "500 internal_error")
        #expect(service.loggedText().contains("Mishap"))
    }
}

/// Responses to each refusal of Apple's tokens.
@Suite struct TokenProblemTests {
    private var service: RunningService { .current }

    @Test(arguments: AppleTokenError.Code.allCases)
    func `every refusal of a token is 401 with its own code`(code: AppleTokenError.Code) async throws {
        let store = FailingStore(error: AppleTokenError(code, detail: "secret-claim-value"))
        try await RunningService.with(.init(store: store)) { service in
            let response = try await service.get("/v1/events")
            #expect(response.outcome == "401 \(code.rawValue)")
            #expect(!response.text.contains("secret-claim-value"))
        }
    }

    @Test(
        .service(),
        arguments: [
            ("token_malformed", "not.a.token"), ("token_malformed", "a.b"), ("token_malformed", "..."),
            ("algorithm_not_allowed", "eyJhbGciOiJub25lIiwia2lkIjoiYSJ9.e30.YQ"),
            ("key_id_invalid", "eyJhbGciOiJSUzI1NiJ9.e30.YQ"),
            ("unknown_key", "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vcGUifQ.e30.YQ"),
        ])
    func `a token that is none is refused before anything else`(code: String, token: String) async throws {
        for target in [ProblemContractTests.verify, "/v1/sign-ins"] {
            let body = Bodies.json([("identity_token", .string(token))])
            #expect(try await service.post(target, body: body).code == code)
        }
        let response = try await service.post(
            "/v1/apple/notifications", body: Bodies.json([("payload", .string(token))]), secret: nil)
        #expect(response.outcome == "401 \(code)")
    }

    @Test(.service())
    func `an identity token is no notification, and the reverse`() async throws {
        let token = try Bodies.token()
        let notified = try await service.post(
            "/v1/apple/notifications", body: Bodies.json([("payload", .string(token))]), secret: nil)
        #expect(notified.code == "not_a_notification")
        let payload = try TokenMint.shared.sign(TokenMint.notificationClaims())
        let verified = try await service.post(
            ProblemContractTests.verify, body: Bodies.json([("identity_token", .string(payload))]))
        #expect(verified.code == "not_an_identity_token")
    }
}
