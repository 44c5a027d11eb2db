import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import StrictJSON
import Testing
import TokenMint

/// Successful responses of each call.
@Suite(.service()) struct CallContractTests {
    let service = RunningService.current

    static let sub = TokenMint.subject

    @Test func `verify answers the claims under Apple's names and stores nothing`() async throws {
        let response = try await service.post("/v1/identity-tokens/verify", body: try Bodies.identityToken())
        #expect(response.status == 200)
        let identity = response.json?["identity"]
        expect(
            identity,
            has: [
                "iss": "https://appleid.apple.com", "sub": .string(Self.sub),
                "aud": .string(TokenMint.clientID), "client_id": .string(TokenMint.clientID),
                "team_id": .string(RunningService.team), "email_verified": true, "is_private_email": true,
                "real_user_status": 2, "iat": "2026-01-01T00:00:00.000Z", "exp": "2026-01-02T00:00:00.000Z",
                "nonce": nil,
            ])
        let state = try await service.get("/v1/credentials/\(Self.sub)?client_id=\(TokenMint.clientID)")
        #expect(state.json?["state"]?.string == "notFound")
    }

    @Test func `a string boolean in a token is a real boolean in the answer`() async throws {
        let body = try Bodies.identityToken { $0["email_verified"] = "true" }
        let response = try await service.post("/v1/identity-tokens/verify", body: body)
        #expect(response.json?["identity"]?["email_verified"]?.bool == true)
    }

    @Test func `the first sign-in creates an account and the second finds it`() async throws {
        let user = JSONValue.object(
            JSONObject([
                ("name", ["firstName": "Ada", "lastName": "Lovelace"]), ("email", "ada@example.com"),
            ]))
        let first = try await service.post("/v1/sign-ins", body: try Bodies.identityToken([("user", user)]))
        #expect(first.status == 201)
        #expect(first.json?["is_new_account"]?.bool == true)
        let account = try #require(first.json?["account"])
        let id = try #require(account["id"]?.string)
        #expect(id.hasPrefix("acc_"))
        expect(
            account,
            has: [
                "team_id": .string(RunningService.team), "sub": .string(Self.sub), "first_name": "Ada",
                "last_name": "Lovelace", "email": "q4zjk7x2rt@privaterelay.appleid.com",
                "email_forwarding": "unknown", "created_at": "2026-01-01T00:01:00.000Z",
                "last_sign_in_at": "2026-01-01T00:01:00.000Z",
            ])
        let credential = try #require(first.json?["credential"])
        expect(
            credential,
            has: [
                "client_id": .string(TokenMint.clientID), "state": "authorized", "reason": "signed_in",
                "source": "sign_in", "since": "2026-01-01T00:00:00.000Z",
            ])
        #expect(account["credentials"]?.array == [credential])

        let second = try await service.signIn().expecting(200)
        #expect(second.json?["is_new_account"]?.bool == false)
        #expect(second.json?["account"]?["id"]?.string == id)

        let byID = try await service.get("/v1/accounts/\(id)")
        let bySubject = try await service.get("/v1/accounts?client_id=com.example.web&sub=\(Self.sub)")
        #expect(byID.status == 200)
        #expect(byID.body == bySubject.body)
        #expect(byID.json?["id"]?.string == id)
    }

    @Test func `no answer has a null or an empty string`() async throws {
        let body = try Bodies.identityToken {
            for name in ["email", "email_verified", "is_private_email", "real_user_status", "auth_time"] {
                $0[name] = nil
            }
        }
        for target in ["/v1/identity-tokens/verify", "/v1/sign-ins"] {
            let response = try await service.post(target, body: body)
            #expect(!response.text.contains("null"))
            #expect(!response.text.contains("\"\""))
            #expect(!response.text.contains("\"email\""))
        }
    }

    @Test func `create = false makes no account`() async throws {
        let body = try Bodies.identityToken([("create", false)])
        #expect(try await service.post("/v1/sign-ins", body: body).outcome == "404 account_not_found")
        let account = try await service.get("/v1/accounts?client_id=\(TokenMint.clientID)&sub=\(Self.sub)")
        #expect(account.code == "account_not_found")
    }

    @Test func `a credential goes from notFound to authorized to revoked`() async throws {
        let target = "/v1/credentials/\(Self.sub)?client_id=com.example.web"
        let before = try await service.get(target).expecting(200)
        #expect(before.text == #"{"client_id":"com.example.app","state":"notFound"}"#)
        _ = try await service.signIn()
        #expect(try await service.get(target).json?["state"]?.string == "authorized")
        let notified = try await service.post(
            "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        #expect(notified.status == 200)
        #expect(notified.json?["result"]?.string == "applied")
        let revoked = try await service.get(target)
        #expect(revoked.json?["state"]?.string == "revoked")
        #expect(revoked.json?["reason"]?.string == "consent_revoked")
        #expect(revoked.json?["source"]?.string == "notification")
        #expect(revoked.json?["since"]?.string == "2026-01-01T00:00:10.000Z")
        #expect(try await service.signIn().outcome == "403 credential_revoked")
    }

    @Test func `a notification counts once, and an unknown type is kept`() async throws {
        func notify(_ body: String) async throws -> ProbeResponse {
            try await service.post("/v1/apple/notifications", body: body, secret: nil)
        }
        #expect(try await notify(try Bodies.notification()).json?["result"]?.string == "applied")
        #expect(try await notify(try Bodies.notification()).json?["result"]?.string == "duplicate")
        #expect(try await notify(try Bodies.notification(id: "other")).json?["result"]?.string == "duplicate")
        let unknown = try await notify(try Bodies.notification(type: "wings-grown", id: "third"))
        #expect(unknown.status == 200)
        #expect(unknown.json?["result"]?.string == "unknown_type")
    }

    @Test func `many credentials are answered in the order asked`() async throws {
        _ = try await service.signIn()
        let body = Bodies.json([
            ("client_id", .string(TokenMint.clientID)),
            ("subs", .array(["nobody", .string(Self.sub), "nobody"])),
        ])
        let response = try await service.post("/v1/credentials/query", body: body).expecting(200)
        let credentials = response.json?["credentials"]?.array ?? []
        #expect(credentials.map { $0["sub"]?.string } == ["nobody", Self.sub, "nobody"])
        #expect(credentials.map { $0["state"]?.string } == ["notFound", "authorized", "notFound"])
    }

    @Test func `a minted nonce serves one sign-in`() async throws {
        let minted = try await service.post("/v1/nonces").expecting(201)
        let nonce = try #require(minted.json?["nonce"]?.string)
        let digest = try #require(minted.json?["nonce_sha256"]?.string)
        #expect(digest == Hexadecimal.encode(SHA256Digest.hash(nonce)))
        #expect(minted.json?["expires_at"]?.string?.hasPrefix("2026-01-01T00:1") == true)
        let body = try Bodies.identityToken([("nonce", .string(nonce))]) { $0["nonce"] = .string(digest) }
        #expect(try await service.post("/v1/sign-ins", body: body).status == 201)
        #expect(try await service.post("/v1/sign-ins", body: body).outcome == "401 nonce_used")
    }

    @Test(.service { $0.requiresMintedNonce = true })
    func `an app that demands a nonce of this service takes no other at a sign-in`() async throws {
        let minted = try await service.post("/v1/nonces")
        let nonce = try #require(minted.json?["nonce"]?.string)
        let digest = try #require(minted.json?["nonce_sha256"]?.string)
        for (posted, claim) in [(nil, nil), ("own", "own"), (nil, "own"), (nil, digest)]
            as [(String?, String?)]
        {
            let members = posted.map { [("nonce", JSONValue.string($0))] } ?? []
            let body = try Bodies.identityToken(members) { $0["nonce"] = claim.map { .string($0) } }
            let refused = try await service.post("/v1/sign-ins", body: body)
            #expect(refused.outcome == "401 nonce_not_minted", "\(refused.text)")
            #expect(refused["content-type"] == "application/problem+json")
            #expect(refused["www-authenticate"] == nil, "the key of the caller is right")
            // Signs nobody in.
            #expect(try await service.post("/v1/identity-tokens/verify", body: body).status == 200)
        }
        #expect(service.requestLines.count { $0.contains("code=nonce_not_minted") } == 4)
        let unknown = try await service.get("/v1/accounts?client_id=\(TokenMint.clientID)&sub=\(Self.sub)")
        #expect(unknown.code == "account_not_found")
        // The state of a web sign-in has a nonce of its own.
        let visitor = WebVisitor(service)
        #expect(try await visitor.visit()["code"] != nil)
        let body = try Bodies.identityToken([("nonce", .string(nonce))]) { $0["nonce"] = .string(digest) }
        #expect(try await service.post("/v1/sign-ins", body: body).status == 200)
        #expect(try await service.post("/v1/sign-ins", body: body).code == "nonce_used")
    }

    @Test func `events come in commit order, with a cursor`() async throws {
        _ = try await service.signIn()
        _ = try await service.post("/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        let first = try await service.get("/v1/events?limit=1")
        #expect(first.json?["events"]?.array?.map { $0["type"]?.string } == ["account_created"])
        #expect(first.json?["has_more"]?.bool == true)
        let cursor = try #require(first.json?["cursor"]?.string)
        let rest = try await service.get("/v1/events?after=\(cursor)")
        let types = rest.json?["events"]?.array?.map { $0["type"]?.string }
        #expect(types == ["credential_authorized", "credential_revoked"])
        let event = rest.json?["events"]?.array?.last
        #expect(event?["client_id"]?.string == TokenMint.clientID)
        #expect(event?["reason"]?.string == "consent_revoked")
        #expect(event?["occurred_at"]?.string == "2026-01-01T00:00:10.000Z")
        #expect(event?["recorded_at"]?.string == "2026-01-01T00:01:00.000Z")
        #expect(rest.json?["has_more"]?.bool == false)
    }

    @Test func `a nonce is minted without a database`() async throws {
        let gone = FailingStore(error: StorageError(.unavailable, detail: ""))
        try await RunningService.with(.init(store: gone)) { service async throws in
            #expect(try await service.post("/v1/nonces").status == 201)
            #expect(try await service.post("/v1/nonces?x=1").code == "parameter_unknown")
            #expect(try await service.post("/v1/nonces", secret: nil).status == 401)
        }
    }

    @Test func `the feed can be read from its end, and not from behind it`() async throws {
        #expect(try await service.get("/v1/events?after=latest").json?["cursor"]?.string == "0")
        _ = try await service.signIn()
        let end = try await service.get("/v1/events?after=latest").expecting(200)
        #expect(end.json?["events"]?.array?.isEmpty == true)
        expect(end.json, has: ["cursor": "2", "has_more": false])
        for wait in ["", "&wait=30"] {
            #expect(try await service.get("/v1/events?after=3\(wait)").outcome == "409 cursor_ahead")
        }
        for malformed in ["LATEST", "latest2", "last"] {
            #expect(try await service.get("/v1/events?after=\(malformed)").code == "parameter_malformed")
        }
    }

    @Test func `a long poll is woken by the next change`() async throws {
        async let waiting = service.get("/v1/events?wait=30")
        _ = try await service.signIn()
        let events = try await waiting.json?["events"]?.array ?? []
        #expect(events.first?["type"]?.string == "account_created")
    }

    @Test func `a credential has an entity tag that saves the body`() async throws {
        let target = "/v1/credentials/\(Self.sub)?client_id=\(TokenMint.clientID)"
        let first = try await service.get(target)
        let tag = try #require(first["etag"])
        for value in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let second = try await service.get(target, fields: ["If-None-Match": value]).expecting(304)
            #expect(second["etag"] == tag)
            #expect(second["content-length"] == nil)
        }
        _ = try await service.signIn()
        let changed = try await service.get(target, fields: ["If-None-Match": tag]).expecting(200)
        #expect(changed["etag"] != tag)
    }

    @Test func `answers about users are not cached`() async throws {
        let verified = try await service.post("/v1/identity-tokens/verify", body: try Bodies.identityToken())
        #expect(verified["cache-control"] == "no-store")
        #expect(verified["content-type"] == "application/json")
        #expect(verified["server"] == nil)
        #expect(verified["date"] == "Thu, 01 Jan 2026 00:01:00 GMT")
    }

    @Test func `errors are not cached, not even those that a cache could keep by itself`() async throws {
        let missing = try await service.get("/v1/accounts/acc_missing")
        #expect(missing.status == 404 && missing["cache-control"] == "no-store")
        let unknown = try await service.get("/v1/unknown")
        #expect(unknown.status == 404 && unknown["cache-control"] == "no-store")
    }

    @Test(arguments: ["/livez", "/readyz", "/health", "/version"])
    func `operations are public, also with HEAD`(target: String) async throws {
        let get = try await service.get(target, secret: nil).expecting(200)
        let head = try await service.call("HEAD", target, secret: nil).expecting(200)
        #expect(head["content-length"] == String(get.body.count))
    }

    @Test func `version and health say what runs and how`() async throws {
        let version = try await service.get("/version", secret: nil)
        #expect(version.text == #"{"name":"siwa","version":"0.0.1-test"}"#)
        let health = try await service.get("/health", secret: nil)
        #expect(health.json?["status"]?.string == "ready")
        #expect(health.json?["database"]?["status"]?.string == "ready")
        expect(health.json?["keys"], has: ["status": "ready", "count": 1])
    }

    @Test func `metrics count requests and verdicts, and need an unlimited key`() async throws {
        _ = try await service.post("/v1/identity-tokens/verify", body: try Bodies.identityToken())
        _ = try await service.post(
            "/v1/identity-tokens/verify", body: try Bodies.identityToken { $0["aud"] = "x" })
        let metrics = try await service.get("/metrics").expecting(200)
        #expect(
            metrics.text.contains(
                #"siwa_http_requests_total{route="/v1/identity-tokens/verify",status="200"} 1"#))
        #expect(
            metrics.text.contains(#"siwa_verifications_total{kind="identity-token",result="accepted"} 1"#))
        #expect(
            metrics.text.contains(
                #"siwa_verifications_total{kind="identity-token",result="audience_mismatch"} 1"#))
        #expect(metrics.text.contains("siwa_keys_ready 1"))
        #expect(try await service.get("/metrics", secret: nil).status == 401)
        let limited = try await service.get("/metrics", secret: RunningService.limitedSecret)
        #expect(limited.code == "caller_forbidden")
    }
}
