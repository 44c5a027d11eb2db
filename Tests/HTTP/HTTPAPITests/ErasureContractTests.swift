import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// The responses to a backend about an erasure and its tokens.
@Suite(.service()) struct ErasureContractTests {
    let service = RunningService.current

    static let code = "c0de"

    /// Signs the sample user in. Returns the whole response.
    @discardableResult private func signIn(
        _ service: RunningService, withCode: Bool = false, secondsLater: Int64 = 0,
        clientID: String = TokenMint.clientID
    ) async throws -> ProbeResponse {
        let code: [(String, JSONValue)] = withCode ? [("authorization_code", .string(Self.code))] : []
        let body = try Bodies.identityToken(code) { claims in
            claims["aud"] = .string(clientID)
            for name in ["iat", "auth_time"] { claims[name] = .integer(TokenMint.sampleTime + secondsLater) }
            if withCode {
                claims["c_hash"] = .string(Base64URL.encode(SHA256Digest.hash(Self.code).prefix(16)))
            }
        }
        return try await service.post("/v1/sign-ins", body: body)
    }

    private func accountID(_ response: ProbeResponse) throws -> String {
        try #require(response.json?["account"]?["id"]?.string)
    }

    /// Finishes an erasure as its worker would.
    private func finish(
        _ service: RunningService, _ store: ReferenceStore, _ outcome: ErasureOutcome, cause: String? = nil
    ) async throws {
        let now = Moment(milliseconds: service.clock.millisecondsSince1970)
        let claimed = try await store.claimErasureTokens(
            limit: 10, at: now, leaseUntil: now.advanced(byMilliseconds: 1000), of: nil)
        try #require(!claimed.isEmpty)
        for claim in claimed {
            var token = claim.token
            (token.step, token.cause, token.sealed, token.attempts) = (.done(outcome), cause, nil, 2)
            try await store.save(token, of: claim.erasureID, at: now)
        }
    }

    @Test func `without a token everything is done at once, and the user must revoke by hand`() async throws {
        let id = try accountID(try await signIn(service))
        let response = try await service.call("DELETE", "/v1/accounts/\(id)").expecting(200)
        expect(response.fields, has: ["location": nil, "cache-control": "no-store"])
        let erasure = try #require(response.json?["erasure"])
        let erasureID = try #require(erasure["id"]?.string)
        #expect(erasureID.hasPrefix("era_"))
        #expect(erasure["account_id"]?.string == id)
        #expect(erasure["state"]?.string == "completed")
        #expect(erasure["requested_at"]?.string == "2026-01-01T00:01:00.000Z")
        #expect(erasure["finished_at"]?.string == "2026-01-01T00:01:00.000Z")
        #expect(erasure["personal_data"]?.string == "erased")
        #expect(erasure["tokens"]?.array?.isEmpty == true)
        #expect(erasure["user_must_revoke"]?.bool == true)
        let remaining = try #require(erasure["user_must_revoke_at"]?.array)
        #expect(remaining.map { $0["client_id"]?.string } == [TokenMint.clientID])
        #expect(remaining.map { $0["cause"]?.string } == ["no_token"])
        #expect(erasure["instructions"]?.string?.isEmpty == false)
        #expect(!response.text.contains(TokenMint.subject))

        #expect(try await service.get("/v1/accounts/\(id)").code == "account_not_found")
        let again = try await service.call("DELETE", "/v1/accounts/\(id)").expecting(200)
        #expect(again.body == response.body)
        let report = try await service.get("/v1/erasures/\(erasureID)").expecting(200)
        #expect(report.body == response.body)
    }

    @Test func `while Apple has to be asked there is a place to look`() async throws {
        let store = ReferenceStore()
        try await RunningService.with(.init(store: store)) { service in
            let id = try accountID(try await signIn(service, withCode: true))
            let response = try await service.call("DELETE", "/v1/accounts/\(id)").expecting(202)
            let erasure = try #require(response.json?["erasure"])
            let erasureID = try #require(erasure["id"]?.string)
            #expect(response["location"] == "/v1/erasures/\(erasureID)")
            expect(erasure, has: ["state": "in_progress", "finished_at": nil])
            #expect(erasure["tokens"]?.array?.map { $0["outcome"]?.string } == ["pending"])
            #expect(erasure["tokens"]?.array?.map { $0["client_id"]?.string } == [TokenMint.clientID])
            // Not known yet.
            expect(erasure, has: ["user_must_revoke": false, "instructions": nil])

            try await finish(service, store, .provenRevoked)
            let report = try await service.get("/v1/erasures/\(erasureID)")
            #expect(report.json?["erasure"]?["state"]?.string == "completed")
            let tokens = report.json?["erasure"]?["tokens"]?.array
            #expect(tokens?.map { $0["outcome"]?.string } == ["revoked_and_proven"])
            #expect(tokens?.map { $0["attempts"]?.integer } == [2])
            expect(report.json?["erasure"], has: ["user_must_revoke": false, "user_must_revoke_at": nil])
            let again = try await service.call("DELETE", "/v1/accounts/\(id)").expecting(200)
            #expect(again.json == report.json)
        }
    }

    @Test func `what Apple would not revoke is the user's to revoke, and the cause is named`() async throws {
        let store = ReferenceStore()
        try await RunningService.with(.init(store: store)) { service in
            let id = try accountID(try await signIn(service, withCode: true))
            _ = try await service.call("DELETE", "/v1/accounts/\(id)")
            try await finish(service, store, .notRevoked, cause: "invalid_client")
            let report = try await service.call("DELETE", "/v1/accounts/\(id)").expecting(200)
            let erasure = report.json?["erasure"]
            #expect(erasure?["tokens"]?.array?.map { $0["cause"]?.string } == ["invalid_client"])
            #expect(erasure?["user_must_revoke"]?.bool == true)
            #expect(erasure?["user_must_revoke_at"]?.array?.map { $0["cause"]?.string } == ["invalid_client"])
        }
    }

    @Test func `consent that was withdrawn before leaves the user nothing to do`() async throws {
        let id = try accountID(try await signIn(service))
        _ = try await service.post("/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        let response = try await service.call("DELETE", "/v1/accounts/\(id)").expecting(200)
        #expect(response.json?["erasure"]?["user_must_revoke"]?.bool == false)
    }

    @Test func `an erased user is in no event, no old token comes back, and a new sign-in is a new account`()
        async throws
    {
        let id = try accountID(try await signIn(service))
        _ = try await service.call("DELETE", "/v1/accounts/\(id)")
        let events = try await service.get("/v1/events")
        let types = events.json?["events"]?.array?.map { $0["type"]?.string }
        #expect(
            types == ["account_created", "credential_authorized", "credential_revoked", "account_erased"])
        #expect(events.json?["events"]?.array?.allSatisfy { $0["sub"] == nil } == true)
        #expect(events.json?["events"]?.array?.last?["account_id"]?.string == id)
        #expect(!events.text.contains(TokenMint.subject))
        let state = try await service.get(
            "/v1/credentials/\(TokenMint.subject)?client_id=\(TokenMint.clientID)")
        expect(state.json, has: ["state": "revoked", "reason": "erased", "source": "erasure"])
        #expect(try await signIn(service).code == "credential_revoked")
        service.clock.advance(by: .seconds(3600))
        let new = try await signIn(service, secondsLater: 3600).expecting(201)
        #expect(try accountID(new) != id)
    }

    @Test func `a limited key erases only what it sees without exception`() async throws {
        let secret = RunningService.limitedSecret
        let id = try accountID(try await signIn(service))
        let foreign = try await service.call("DELETE", "/v1/accounts/\(id)", secret: secret)
        #expect(foreign.outcome == "404 account_not_found")
        _ = try await signIn(service, clientID: RunningService.secondClientID)
        let shared = try await service.call("DELETE", "/v1/accounts/\(id)", secret: secret)
        #expect(shared.outcome == "403 caller_forbidden")
        let erased = try await service.call("DELETE", "/v1/accounts/\(id)")
        let erasureID = try #require(erased.json?["erasure"]?["id"]?.string)
        let report = try await service.get("/v1/erasures/\(erasureID)", secret: secret)
        #expect(report.json?["erasure"]?["id"]?.string == erasureID)
        let apps = report.json?["erasure"]?["user_must_revoke_at"]?.array
        #expect(apps?.map { $0["client_id"]?.string } == [RunningService.secondClientID])
        #expect(try await service.call("DELETE", "/v1/accounts/\(id)", secret: nil).status == 401)
        #expect(try await service.get("/v1/erasures/\(erasureID)", secret: nil).status == 401)
    }

    @Test func `a credential says how it stands with the refresh token`() async throws {
        try await RunningService.with { service in
            #expect(try await signIn(service).json?["credential"]?["refresh_token"] == nil)
            let with = try await signIn(service, withCode: true)
            expect(with.json?["credential"], has: ["refresh_token": "pending", "refresh_token_cause": nil])
            let one = try await service.get(
                "/v1/credentials/\(TokenMint.subject)?client_id=\(TokenMint.clientID)")
            #expect(one.json == with.json?["credential"])
        }
        try await RunningService.with(.init(canSeal: false)) { service in
            let response = try await signIn(service, withCode: true).expecting(201)
            let credential = try #require(response.json?["credential"])
            #expect(credential["refresh_token"]?.string == "unavailable")
            #expect(credential["refresh_token_cause"]?.string == "no_sealing_key")
            #expect(response.json?["account"]?["credentials"]?.array == [credential])
        }
    }
}
