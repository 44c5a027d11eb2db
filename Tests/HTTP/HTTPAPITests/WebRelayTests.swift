import AppleAccounts
import Cryptography
import Encodings
import Logging
import StorageConformance
import StrictJSON
import Testing
import TokenMint

/// Successful sign-ins in a browser, and sign-ins that the user or Apple ends.
@Suite(.service()) struct WebRelayTests {
    let service = RunningService.current
    let visitor = WebVisitor(.current)

    @Test func `the link leads to Apple with everything that Apple must know`() async throws {
        let redirect = try await visitor.begin("?client_id=com.example.web&state=s1")
        let response = redirect.response
        #expect(response.status == 303)
        #expect(response["location"]?.hasPrefix("https://appleid.apple.com/auth/authorize?") == true)
        #expect(redirect.parameters["client_id"] == "com.example.web")
        #expect(redirect.parameters["redirect_uri"] == "https://siwa.test/v1/web/callback")
        #expect(redirect.parameters["response_type"] == "code id_token")
        #expect(redirect.parameters["response_mode"] == "form_post")
        #expect(redirect.parameters["scope"] == "name email")
        #expect(redirect.nonce.count == 32)
        let cookie = try #require(response["set-cookie"])
        #expect(cookie.hasPrefix("__Host-siwa_web="))
        for attribute in ["; Path=/", "; Max-Age=600", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
            #expect(cookie.contains(attribute))
        }
        expect(response.fields, has: ["cache-control": "no-store", "referrer-policy": "no-referrer"])
        let other = try await visitor.begin()
        #expect(other.nonce != redirect.nonce)
        #expect(other.state != redirect.state)
    }

    @Test(.service(.init(publicURL: "http://localhost:8080")))
    func `over plain HTTP the cookie is one that a browser takes`() async throws {
        let cookie = try #require(try await WebVisitor(service).begin().response["set-cookie"])
        #expect(cookie.hasPrefix("siwa_web="))
        #expect(!cookie.contains("Secure"))
    }

    @Test(arguments: [
        ("name", "name"), ("email", "email"), ("email%20name", "email name"), ("name+email", "name email"),
    ])
    func `the scope can be chosen`(scope: String, asked: String) async throws {
        #expect(try await WebVisitor(service).begin("?scope=\(scope)").parameters["scope"] == asked)
    }

    @Test func `a whole sign-in ends with a code for which the backend gets the account`() async throws {
        let redirect = try await visitor.begin("?state=s%2F1")
        let user = #"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"ada@example.com"}"#
        let arrived = try await visitor.post(try visitor.form(for: redirect, user: user)).expecting(303)
        #expect(arrived["location"]?.hasPrefix("https://siwa.test/v1/web/finish?ticket=") == true)
        expect(arrived.fields, has: ["referrer-policy": "no-referrer", "cache-control": "no-store"])
        let finished = try await visitor.follow(arrived).expecting(303)
        #expect(finished["location"]?.hasPrefix("https://app.example/apple?from=siwa&code=") == true)
        #expect(finished["location"]?.hasSuffix("&state=s%2F1") == true)
        expect(finished.fields, has: ["referrer-policy": "no-referrer", "set-cookie": nil])
        let code = try #require(WebVisitor.parameters(of: finished["location"] ?? "")["code"])

        let result = try await visitor.redeem(code).expecting(201)
        #expect(result.json?["is_new_account"]?.bool == true)
        expect(result.json?["account"], has: ["first_name": "Ada", "sub": .string(TokenMint.subject)])
        // The address that Apple signed, not one that a client could have put into the form.
        #expect(result.json?["account"]?["email"]?.string == "q4zjk7x2rt@privaterelay.appleid.com")
        #expect(result.json?["credential"]?["client_id"]?.string == TokenMint.clientID)
        #expect(result.json?["credential"]?["state"]?.string == "authorized")
        // The code is kept, sealed, for the exchange that needs the redirect URI again.
        #expect(result.json?["credential"]?["refresh_token"]?.string == "pending")
        #expect(try await visitor.redeem(code).outcome == "400 web_code_invalid")

        let second = try await visitor.visit()
        let known = try await visitor.redeem(try #require(second["code"])).expecting(200)
        #expect(known.json?["is_new_account"]?.bool == false)
        #expect(second["state"] == nil)
    }

    @Test func `two tabs can be on their way at once`() async throws {
        let first = try await visitor.begin("?state=one")
        let second = try await visitor.begin("?state=two")
        for (redirect, state) in [(second, "two"), (first, "one")] {
            let arrived = try await visitor.post(try visitor.form(for: redirect))
            let finished = try await visitor.follow(arrived)
            #expect(WebVisitor.parameters(of: finished["location"] ?? "")["state"] == state)
        }
    }

    @Test(arguments: ["a+b", "a%2Bb", "x.y~z-_", "%E2%82%AC", "a=b", "(1)"])
    func `the caller's state comes back byte for byte`(state: String) async throws {
        let redirect = try await visitor.begin("?state=\(state)")
        let finished = try await visitor.follow(try await visitor.post(try visitor.form(for: redirect)))
        #expect(finished["location"]?.hasSuffix("&state=\(state)") == true)
    }

    @Test(arguments: [
        ("user_cancelled_authorize", "user_cancelled_authorize"), ("access_denied", "access_denied"),
        ("<script>", "server_error"), ("a&code=x", "server_error"),
        (String(repeating: "a", count: 65), "server_error"),
    ])
    func `what Apple says instead is handed on`(error: String, told: String) async throws {
        let redirect = try await visitor.begin("?state=s1")
        let arrived = try await visitor.post([("state", redirect.state), ("error", error)]).expecting(303)
        let finished = try await visitor.follow(arrived)
        let parameters = WebVisitor.parameters(of: finished["location"] ?? "")
        #expect(parameters == ["from": "siwa", "error": told, "state": "s1"])
    }

    static let badTokens: [(code: String, change: @Sendable (inout JSONObject) -> Void)] = [
        ("nonce_mismatch", { $0["nonce"] = "other" }), ("nonce_missing", { $0["nonce"] = nil }),
        (
            "nonce_missing",
            {
                $0["nonce"] = nil
                $0["nonce_supported"] = false
            }
        ), ("audience_mismatch", { $0["aud"] = .string(TokenMint.clientID) }),
        ("code_hash_mismatch", { $0["c_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" }),
        ("code_hash_missing", { $0["c_hash"] = nil }),
        ("issuer_mismatch", { $0["iss"] = "https://example.com" }),
        ("token_expired", { $0["exp"] = .integer(TokenMint.sampleTime - 3600) }),
    ]

    @Test(arguments: badTokens.indices)
    func `a token that does not fit is no sign-in, and the app is told why`(index: Int) async throws {
        let redirect = try await visitor.begin()
        let bad = Self.badTokens[index]
        let arrived = try await visitor.post(try visitor.form(for: redirect, bad.change))
        let parameters = WebVisitor.parameters(of: try await visitor.follow(arrived)["location"] ?? "")
        #expect(parameters["error"] == "invalid_identity_token")
        #expect(parameters["error_description"] == bad.code)
        #expect(parameters["code"] == nil)
        let account = try await service.get(
            "/v1/accounts?client_id=\(TokenMint.clientID)&sub=\(TokenMint.subject)")
        #expect(account.code == "account_not_found")
    }

    @Test func `a token's hashed nonce will do for an app and not for a browser`() async throws {
        let redirect = try await visitor.begin()
        let form = try visitor.form(for: redirect) {
            $0["nonce"] = .string(Hexadecimal.encode(SHA256Digest.hash(redirect.nonce)))
        }
        let parameters = WebVisitor.parameters(
            of: try await visitor.follow(try await visitor.post(form))["location"] ?? "")
        #expect(parameters["error_description"] == "nonce_mismatch")
    }

    @Test(arguments: ["id_token", "code"])
    func `a form without its token or its code is no sign-in`(missing: String) async throws {
        let redirect = try await visitor.begin()
        let form = try visitor.form(for: redirect).filter { $0.0 != missing }
        let parameters = WebVisitor.parameters(
            of: try await visitor.follow(try await visitor.post(form))["location"] ?? "")
        expect(parameters, has: ["error": "invalid_request", "error_description": "form_malformed"])
    }

    @Test func `a token from before consent was withdrawn is refused, and the app is told`() async throws {
        _ = try await service.post("/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        let parameters = try await WebVisitor(service).visit()
        #expect(parameters["error"] == "sign_in_refused")
        #expect(parameters["error_description"] == "credential_revoked")
    }

    enum FirstEnd: CaseIterable, Sendable {
        case signedIn, refusedAccount, refusedToken, malformedForm, cancelled, failedStorage
    }

    @Test(arguments: FirstEnd.allCases, [false, true])
    func `a form that one browser posts again ends as the first did, also at another replica`(
        end: FirstEnd, isAtOther: Bool
    ) async throws {
        var options = RunningService.Options()
        let tickets = ReferenceStore()
        let accounts = FailingStore(error: StorageError(.unavailable, detail: ""))
        options.store = end == .failedStorage ? accounts : tickets
        options.tickets = tickets
        try await RunningService.with(options) { [options] service in
            try await RunningService.with(options) { other in
                if end == .refusedAccount {
                    _ = try await service.post(
                        "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
                }
                let visitor = WebVisitor(service)
                let redirect = try await visitor.begin("?state=s1")
                let form =
                    switch end {
                    case .signedIn, .refusedAccount, .failedStorage: try visitor.form(for: redirect)
                    case .refusedToken: try visitor.form(for: redirect) { $0["nonce"] = "other" }
                    case .malformedForm: try visitor.form(for: redirect).filter { $0.0 != "code" }
                    case .cancelled: [("state", redirect.state), ("error", "user_cancelled_authorize")]
                    }
                let again = WebVisitor(isAtOther ? other : service)
                again.cookie = visitor.cookie
                let first = try await visitor.follow(try await visitor.post(form))["location"]
                let ends = [
                    try await again.follow(try await again.post(form))["location"],
                    try await visitor.follow(try await visitor.post(form))["location"],
                ]
                #expect(first != nil && ends == [first, first])
                let said = WebVisitor.parameters(of: first ?? "")
                #expect(said["state"] == "s1")
                #expect(
                    said["error_description"] ?? said["error"] ?? "code"
                        == [
                            .signedIn: "code", .refusedAccount: "credential_revoked",
                            .refusedToken: "nonce_mismatch", .malformedForm: "form_malformed",
                            .cancelled: "user_cancelled_authorize", .failedStorage: "storage_unavailable",
                        ][end])
                // Of the browser that posts it, and of no other.
                again.cookie = nil
                #expect(try await again.follow(try await again.post(form)).status == 400)
            }
        }
    }

    @Test(.service(.init(keys: NoKeys())))
    func `without Apple's keys the app is told to come back`() async throws {
        let parameters = try await WebVisitor(service).visit()
        #expect(parameters["error"] == "temporarily_unavailable")
        #expect(parameters["error_description"] == "keys_unavailable")
    }

    @Test func `without a database the app is told to come back`() async throws {
        let store = FailingStore(error: StorageError(.unavailable, detail: ""))
        try await RunningService.with(.init(store: store)) { service in
            let parameters = try await WebVisitor(service).visit()
            #expect(parameters["error"] == "temporarily_unavailable")
            #expect(parameters["error_description"] == "storage_unavailable")
        }
    }

    @Test(arguments: ["", "{", "[]", "\"x\"", #"{"name":7}"#, #"{"name":{"firstName":1}}"#, "{}", "null"])
    func `a user object that cannot be read does not fail the sign-in`(user: String) async throws {
        let code = try #require(try await visitor.visit(user: user)["code"])
        let result = try await visitor.redeem(code).expecting(201)
        #expect(result.json?["account"]?["first_name"] == nil)
    }

    @Test func `with two web clients the link must say which`() async throws {
        var options = RunningService.Options()
        options.redirectURLs = [
            "com.example.web": "https://app.example/one", "com.example.second": "https://second.example/two",
        ]
        try await RunningService.with(options) { service in
            let visitor = WebVisitor(service)
            #expect(try await visitor.begin().response.code == "client_id_unknown")
            let redirect = try await visitor.begin("?client_id=com.example.web")
            let finished = try await visitor.follow(try await visitor.post(try visitor.form(for: redirect)))
            #expect(finished["location"]?.hasPrefix("https://app.example/one?code=") == true)
        }
    }

    @Test(
        .service(.init(redirectURLs: [:])),
        arguments: [
            ("GET", "/v1/web/sign-in"), ("POST", "/v1/web/callback"), ("GET", "/v1/web/finish"),
            ("POST", "/v1/web/results"),
        ])
    func `without settings there is no web relay`(method: String, target: String) async throws {
        #expect(try await service.call(method, target, secret: nil).outcome == "404 not_found")
    }

    @Test(.service(.init(logLevel: .trace)))
    func `steps are counted, and secrets are not logged`() async throws {
        let redirect = try await visitor.begin("?state=callers-own-state")
        let user = #"{"name":{"firstName":"Zebedee"},"email":"zebedee@example.net"}"#
        let form = try visitor.form(for: redirect, user: user)
        let cookie = try #require(visitor.cookie)
        let arrived = try await visitor.post(form)
        let ticket = try #require(WebVisitor.parameters(of: arrived["location"] ?? "")["ticket"])
        let finished = try await visitor.follow(arrived)
        let code = try #require(WebVisitor.parameters(of: finished["location"] ?? "")["code"])
        _ = try await visitor.redeem(code)
        visitor.cookie = nil
        _ = try await visitor.follow(arrived)
        _ = try await visitor.post([("state", redirect.state), ("error", "zebedees_own_word")])
        let metrics = try await service.get("/metrics").text
        for step in ["started", "signed_in", "denied", "refused", "finished", "redeemed"] {
            #expect(metrics.contains("siwa_web_sign_ins_total{step=\"\(step)\"} 1"))
        }
        let log = service.loggedText()
        #expect(log.contains("route=/v1/web/callback status=303"))
        #expect(log.contains("route=/v1/web/finish status=400"))
        #expect(log.contains("code=web_browser_mismatch"))
        #expect(log.contains("code=apple_error"))
        let secrets = [
            cookie, String(cookie.suffix(43)), redirect.state, redirect.nonce, ticket, code,
            "callers-own-state", "Zebedee", "zebedee", WebVisitor.code, "eyJ", TokenMint.subject,
        ]
        for secret in secrets { #expect(!log.contains(secret)) }
    }
}
