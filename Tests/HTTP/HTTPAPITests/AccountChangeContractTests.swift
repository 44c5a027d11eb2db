import HTTPAPI
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// The calls that disable, enable and sign out an account.
@Suite(.service()) struct AccountChangeContractTests {
    let service = RunningService.current

    private func signIn(_ service: RunningService, clientID: String = TokenMint.clientID) async throws
        -> ProbeResponse
    {
        let body = try Bodies.identityToken { $0["aud"] = .string(clientID) }
        return try await service.post("/v1/sign-ins", body: body)
    }

    private func account(_ service: RunningService) async throws -> String {
        try #require(try await signIn(service).json?["account"]?["id"]?.string)
    }

    private func disable(
        _ service: RunningService, _ id: String, _ body: String = #"{"reason":"abuse"}"#,
        secret: String = RunningService.secret
    ) async throws -> ProbeResponse {
        try await service.post("/v1/accounts/\(id)/disable", body: body, secret: secret)
    }

    private func eventTypes(_ service: RunningService) async throws -> [String?] {
        let events = try await service.get("/v1/events").json?["events"]?.array
        return events?.map { $0["type"]?.string } ?? []
    }

    @Test func `a disabled user is refused, and every call says that the account is disabled`() async throws {
        let id = try await account(service)
        let disabled = try await disable(service, id).expecting(200)
        #expect(disabled.json?["id"]?.string == id)
        #expect(disabled.json?["disabled"]?["reason"]?.string == "abuse")
        #expect(disabled.json?["disabled"]?["since"]?.string == "2026-01-01T00:01:00.000Z")
        #expect(disabled.json?["disabled"]?["until"] == nil)
        #expect(disabled.json?["credentials"]?.array?.first?["account_disabled"]?.bool == true)
        #expect(try await signIn(service).outcome == "403 account_disabled")
        let path = "/v1/credentials/\(TokenMint.subject)?client_id=\(TokenMint.clientID)"
        let credential = try await service.get(path)
        expect(credential.json, has: ["account_disabled": true, "state": "authorized"])
        let query = Bodies.json([
            ("client_id", .string(TokenMint.clientID)),
            ("subs", .array(["nobody", .string(TokenMint.subject)])),
        ])
        let many = try await service.post("/v1/credentials/query", body: query)
        let states = many.json?["credentials"]?.array
        #expect(states?.map { $0["account_disabled"]?.bool } == [nil, true])
        #expect(try await service.get("/v1/accounts/\(id)").body == disabled.body)
        // The same call changes nothing.
        service.clock.advance(by: .seconds(5))
        #expect(try await disable(service, id).body == disabled.body)

        let enabled = try await service.post("/v1/accounts/\(id)/enable")
        #expect(enabled.status == 200 && enabled.json?["disabled"] == nil)
        #expect(try await service.post("/v1/accounts/\(id)/enable").body == enabled.body)
        let state = try await service.get(path, fields: ["If-None-Match": try #require(credential["etag"])])
        #expect(state.status == 200 && state.json?["account_disabled"] == nil)
        #expect(try await signIn(service).status == 200)
        #expect(
            try await eventTypes(service) == [
                "account_created", "credential_authorized", "account_disabled", "account_enabled",
            ])
    }

    @Test func `a disabling ends by itself`() async throws {
        let id = try await account(service)
        let body = #"{"reason":"security","until":"2026-01-01T01:01:30+01:00"}"#
        let disabled = try await disable(service, id, body)
        #expect(disabled.json?["disabled"]?["until"]?.string == "2026-01-01T00:01:30.000Z")
        service.clock.advance(by: .milliseconds(29_999))
        #expect(try await signIn(service).code == "account_disabled")
        service.clock.advance(by: .milliseconds(1))
        #expect(try await service.get("/v1/accounts/\(id)").json?["disabled"] == nil)
        let path = "/v1/credentials/\(TokenMint.subject)?client_id=\(TokenMint.clientID)"
        #expect(try await service.get(path).json?["account_disabled"] == nil)
        #expect(try await signIn(service).status == 200)
        #expect(try await eventTypes(service).last == "account_enabled")
    }

    @Test(arguments: [
        ("{}", "member_missing", "reason"), (#"{"reason":null}"#, "member_missing", "reason"),
        (#"{"reason":"because"}"#, "member_malformed", "reason"),
        (#"{"reason":7}"#, "member_malformed", "reason"),
        (#"{"reason":"abuse","until":"tomorrow"}"#, "member_malformed", "until"),
        (#"{"reason":"abuse","till":"2027-01-01T00:00:00Z"}"#, "member_unknown", nil),
        ("[]", "body_not_json", nil),
    ]) func `a body that says nothing usable is refused, and the account stays enabled`(
        body: String, code: String, member: String?
    ) async throws {
        let id = try await account(service)
        let response = try await disable(service, id, body)
        #expect(response.status == 400 && response.code == code)
        if let member { #expect(response.json?["member"]?.string == member) }
        #expect(try await signIn(service).status == 200)
    }

    @Test func `a time that has passed disables nothing`() async throws {
        let id = try await account(service)
        let response = try await disable(service, id, #"{"reason":"abuse","until":"2026-01-01T00:01:00Z"}"#)
        #expect(response.outcome == "409 disabling_over")
        #expect(try await signIn(service).status == 200)
    }

    @Test func `unknown accounts, and accounts of other apps, are not found, and mixed ones are forbidden`()
        async throws
    {
        let id = try await account(service)
        let limited = RunningService.limitedSecret
        for call in ["disable", "enable", "sign-out"] {
            let body = call == "disable" ? #"{"reason":"legal"}"# : "{}"
            for (account, secret) in [
                (id, limited), ("acc_x", RunningService.secret),
                ("acc_00000000-0000-7000-8000-000000000000", RunningService.secret),
            ] {
                let response = try await service.post(
                    "/v1/accounts/\(account)/\(call)", body: body, secret: secret)
                #expect(response.outcome == "404 account_not_found")
            }
        }
        _ = try await signIn(service, clientID: RunningService.secondClientID)
        #expect(try await disable(service, id, secret: limited).outcome == "403 caller_forbidden")
        #expect(try await signIn(service).status == 200)
        _ = try await service.call("DELETE", "/v1/accounts/\(id)")
        #expect(try await disable(service, id).code == "account_not_found")
    }

    @Test(.service(.init(hasOAuth: true)))
    func `a sign-out is told, and signs nobody out of Apple`() async throws {
        let id = try await account(service)
        for body in ["{}", #"{"google":true}"#, #"{"google":null}"#] {
            let response = try await service.post("/v1/accounts/\(id)/sign-out", body: body).expecting(200)
            #expect(response.json?["sessions_ended_at"]?.string == "2026-01-01T00:01:00.000Z")
            #expect(response.json?["credentials"]?.array?.first?["state"]?.string == "authorized")
        }
        let wrong = try await service.post("/v1/accounts/\(id)/sign-out", body: #"{"google":"yes"}"#)
        #expect(wrong.code == "member_malformed")
        #expect(try await eventTypes(service).suffix(3) == Array(repeating: "sessions_ended", count: 3))
        #expect(try await signIn(service).status == 200)
    }

    @Test func `a web sign-in of a disabled user fails at the app's page and at its backend`() async throws {
        let visitor = WebVisitor(service)
        let code = try #require(try await visitor.visit()["code"])
        let id = try await account(service)
        _ = try await disable(service, id)
        // Disabled between the sign-in and the backend's call.
        #expect(try await visitor.redeem(code).outcome == "403 account_disabled")
        let refused = try await visitor.visit()
        expect(refused, has: ["error": "sign_in_refused", "error_description": "account_disabled"])
    }
}
