import AppAttestation
import AppleAccounts
import AttestationMint
import Certificates
import Cryptography
import Encodings
import StrictJSON
import TestSupport
import Testing

/// The calls of App Attest, and the proofs that they make possible.
@Suite(.attestedApp()) struct AppAttestContractTests {
    let app = AttestedApp.current

    static let calls = ["/v1/sign-ins", "/v1/identity-tokens/verify"]

    @Test func `registers a key once, and shows it`() async throws {
        let first = try await app.register().expecting(201)
        #expect(first.json?["is_new_key"]?.bool == true)
        let key = first.json?["key"]
        #expect(key?["key_id"]?.string == app.device.keyID)
        #expect(key?["client_id"]?.string == AttestedApp.bundleID)
        #expect(key?["team_id"]?.string == AttestationMint.teamID)
        expect(key, has: ["environment": "production", "validation_category": nil])
        let second = try await app.register().expecting(200)
        #expect(second.json?["is_new_key"]?.bool == false)
    }

    /// The response to the first registration may be lost, and a device attests a key once.
    @Test func `the same registration again returns the registered key, also when its challenge has expired`()
        async throws
    {
        let challenge = try await app.challenge("attestation")
        let first = try await app.register(challenge: challenge).expecting(201)
        let token = try Bodies.token()
        #expect(try await app.send(token, try await app.proof(for: token, counter: 7)).status == 201)
        for seconds in [0, 299, 3600] as [Int64] {
            app.service.clock.advance(by: .seconds(seconds))
            let again = try await app.register(challenge: challenge)
            #expect(again.status == 200, "\(again.text)")
            #expect(again.json?["is_new_key"]?.bool == false)
            #expect(again.json?["key"] == first.json?["key"])
        }
        #expect(try await app.storedKey()?["counter"]?.integer == 7)
        // Neither another key nor another attestation is accepted for it.
        let other = try AttestedDevice(app.device.mint)
        let late = try await app.register(
            try other.attestation(for: challenge), keyID: other.keyID, challenge: challenge)
        #expect(late.cause == "challenge_expired")
        let changed = try app.device.attestation(for: challenge + "x")
        #expect(try await app.register(changed, challenge: challenge).cause == "challenge_expired")
    }

    @Test func `the ID of a key is base64 or base64url in a path, and base64 in a registration`() async throws
    {
        #expect(try await app.register().status == 201)
        let escaped = app.device.keyID.replacing("/", with: "%2F")
        let url = escaped.replacing("%2F", with: "_").replacing("+", with: "-").replacing("=", with: "")
        for id in [escaped, url, escaped.replacing("+", with: "%2B").replacing("=", with: "%3D")] {
            let shown = try await app.service.get("/v1/app-attest/keys/\(id)")
            #expect(shown.json?["key"]?["key_id"]?.string == app.device.keyID, "\(id)")
        }
        for id in [url + "==", String(url.dropLast()), "x"] {
            let shown = try await app.service.get("/v1/app-attest/keys/\(id)")
            #expect(shown.code == "attestation_key_not_found")
        }
        let refused = try await app.register(keyID: url)
        #expect(refused.cause == "proof_malformed")
        #expect(refused.json?["detail"]?.string?.contains("base64 with padding") == true)
    }

    @Test(arguments: calls) func `accepts a proof that holds, once`(call: String) async throws {
        #expect(try await app.register().status == 201)
        let token = try Bodies.token()
        let proof = try await app.proof(for: token, counter: 1)
        let accepted = try await app.send(token, proof, to: call)
        #expect(accepted.status == (call == "/v1/sign-ins" ? 201 : 200))
        #expect(accepted.kind == "verified")
        let again = try await app.send(token, proof, to: call)
        #expect(again.outcome == "401 attestation_invalid")
        // The stored counter is compared before the transaction, which knows the challenge.
        #expect(again.cause == "counter_not_increased")
        let next = try await app.send(token, try await app.proof(for: token, counter: 2), to: call)
        #expect(next.status == 200)
    }

    @Test(arguments: calls) func `refuses a request without a proof in enforced mode`(
        call: String
    ) async throws {
        let token = try Bodies.token()
        let missing = try await app.send(token, nil, to: call)
        #expect(missing.outcome == "401 attestation_required")
        #expect(missing.cause == "proof_missing")
        #expect(try await app.send(token, nil, to: call, version: "4.1.9").cause == "app_outdated")
        #expect(try await app.service.store.lastEventSequence() == 0)
    }

    @Test(.attestedApp(.monitored), arguments: calls)
    func `blocks nothing in monitored mode, and says the kind`(call: String) async throws {
        let token = try Bodies.token()
        _ = try await app.service.signIn()
        #expect(try await app.send(token, nil, to: call).kind == "unknown_origin")
        #expect(try await app.send(token, nil, to: call, version: "4.1").kind == "outdated_app")
        for proof in [JSONValue.string("proof"), 1, .array([]), .object(JSONObject())] {
            let malformed = try await app.send(token, proof, to: call).expecting(200)
            #expect(malformed.json?["app_check"]?["cause"]?.string == "proof_malformed")
        }
        let unknown = try await app.send(token, try await app.proof(for: token, counter: 1), to: call)
        #expect(unknown.status == 200)
        #expect(unknown.kind == "invalid")
        #expect(unknown.json?["app_check"]?["cause"]?.string == "attestation_key_unknown")
        _ = try await app.register()
        let proof = try await app.proof(for: token, counter: 1)
        #expect(try await app.send(token, proof, to: call).kind == "verified")
        #expect(try await app.send(token, proof, to: call).kind == "invalid")
    }

    @Test(arguments: calls) func `judges no app without a mode while another app is judged`(
        call: String
    ) async throws {
        let token = try Bodies.token { $0["aud"] = .string(WebVisitor.webClientID) }
        let response = try await app.send(token, 1, to: call)
        #expect(response.status == (call == "/v1/sign-ins" ? 201 : 200))
        #expect(response.json?["app_check"] == nil)
    }

    @Test(.attestedApp(.off), arguments: calls) func `reads and counts nothing in mode off`(call: String)
        async throws
    {
        let response = try await app.send(try Bodies.token(), 1, to: call)
        #expect(response.status == (call == "/v1/sign-ins" ? 201 : 200))
        #expect(response.json?["app_check"] == nil)
        // An app can attest before proofs are asked for.
        #expect(try await app.register().status == 201)
    }

    @Test func `shows the facts of iOS 27`() async throws {
        // {"apple_validation_category_01": 4 as 4 bytes, "apple_bundle_version_01": "12"}
        let extensions =
            [0xA2, 0x78, 0x1C] + Array("apple_validation_category_01".utf8) + [0x44, 4, 0, 0, 0]
            + [0x77] + Array("apple_bundle_version_01".utf8) + [0x62, 0x31, 0x32]
        let challenge = try await app.challenge("attestation")
        let attestation = try app.device.attestation(for: challenge) { $0.extensions = extensions }
        let registered = try await app.register(attestation, challenge: challenge)
        expect(registered.json?["key"], has: ["validation_category": 4, "bundle_version": "12"])
        #expect(try await app.storedKey()?["bundle_version"]?.string == "12")
        let token = try Bodies.token()
        let data = AttestedDevice.clientData(try await app.challenge(), for: token)
        let assertion = try app.device.assertion(of: data, counter: 1) {
            $0.extensions = extensions.dropLast() + [0x33]
        }
        let response = try await app.send(
            token, AttestedApp.proof(keyID: app.device.keyID, assertion: assertion, data))
        expect(response.json?["app_check"], has: ["validation_category": 4, "bundle_version": "13"])
        // The key shows what its last proof said.
        let stored = try await app.storedKey()
        expect(stored, has: ["validation_category": 4, "bundle_version": "13"])
        let plain = try await app.proof(for: token, counter: 2)
        #expect(try await app.send(token, plain).kind == "verified")
        let older = try await app.storedKey()
        #expect(older?["counter"]?.integer == 2)
        #expect(older?["validation_category"] == nil && older?["bundle_version"] == nil)
    }

    @Test(.attestedApp(hasOAuth: true))
    func `binds a proof at the token endpoint to all other parameters`() async throws {
        #expect(try await app.register().status == 201)
        let rest =
            "grant_type=authorization_code&client_id=\(AttestedApp.client)&code=a%20b"
            + "&redirect_uri=com.example.phone%3A%2Fcb&unknown=&code_verifier=\(String(repeating: "v", count: 43))"
        let canonical =
            "client_id=\(AttestedApp.client)&code=a%20b&code_verifier=" + String(repeating: "v", count: 43)
            + "&grant_type=authorization_code&redirect_uri=com.example.phone%3A%2Fcb&unknown="
        let missing = try await OAuthEndpointTests.post(app.service, "/oauth/token", rest).expecting(401)
        #expect(missing.json?["error"]?.string == "invalid_client")
        #expect(missing.cause == "proof_missing")
        for (text, counter, cause) in [
            (canonical, 1, nil), (canonical + "&x=1", 2, "client_data_mismatch"),
            (canonical, 1, "counter_not_increased"),
        ] as [(String, UInt32, String?)] {
            let data = AttestedDevice.clientData(try await app.challenge(), for: text)
            let proof = [
                ("attestation_key_id", app.device.keyID),
                ("attestation_assertion", try app.device.assertion(of: data, counter: counter)),
                ("attestation_client_data", data),
            ]
            let response = try await OAuthEndpointTests.post(
                app.service, "/oauth/token", FormEncoding.encode(proof) + "&" + rest)
            // A proof that holds leads to the code, which does not exist.
            #expect(response.json?["error"]?.string == (cause == nil ? "invalid_grant" : "invalid_client"))
            #expect(response.cause == cause)
        }
    }

    @Test(.attestedApp(hasOAuth: true))
    func `judges App Flip by the identity token, or by the state for a known account`() async throws {
        #expect(try await app.register().status == 201)
        let token = try Bodies.token()
        let signedIn = try await app.send(token, try await app.proof(for: token, counter: 1))
        let id = try #require(signedIn.json?["account"]?["id"]?.string)
        func flip(_ more: [(String, JSONValue)]) async throws -> ProbeResponse {
            try await app.service.post(
                "/v1/oauth/app-flip",
                body: Bodies.json(
                    [
                        ("client_id", "google"),
                        (
                            "redirect_uri",
                            "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
                        ), ("state", "s-1"), ("scope", "openid email"),
                        ("decision", "granted"),
                    ] + more))
        }
        let account = ("account_id", JSONValue.string(id))
        #expect(try await flip([account]).code == "attestation_required")
        let moved = try await app.proof(for: "s-2", counter: 2)
        #expect(try await flip([account, ("attestation", moved)]).cause == "client_data_mismatch")
        let held = try await flip([account, ("attestation", try await app.proof(for: "s-1", counter: 3))])
        #expect(held.status == 200)
        let other = try Bodies.token { $0["nonce"] = "another token" }
        let identity = ("identity_token", JSONValue.string(other))
        #expect(try await flip([identity]).code == "attestation_required")
        let vouched = try await app.proof(for: other, counter: 4)
        #expect(try await flip([identity, ("attestation", vouched)]).status == 200)
    }
}

/// A genuine app of a test, and the service that judges it.
struct AttestedApp: Sendable {
    static let bundleID = AttestationMint.bundleID
    static let client = "desktop"

    let service: RunningService
    let device: AttestedDevice

    /// Runs a service that trusts the root of a mint.
    static var current: AttestedApp { TestScope.current }

    func challenge(_ purpose: String = "assertion") async throws -> String {
        let body = Bodies.json([("purpose", .string(purpose)), ("client_id", .string(Self.bundleID))])
        let response = try await service.post("/v1/app-attest/challenges", body: body).expecting(201)
        return try #require(response.json?["challenge"]?.string)
    }

    func register(
        _ attestation: String? = nil, keyID: String? = nil, challenge: String? = nil,
        clientID: String = bundleID
    ) async throws -> ProbeResponse {
        let fresh = try await self.challenge("attestation")
        let body = Bodies.json([
            ("attestation", .string(try attestation ?? device.attestation(for: challenge ?? fresh))),
            ("key_id", .string(keyID ?? device.keyID)), ("challenge", .string(challenge ?? fresh)),
            ("client_id", .string(clientID)),
        ])
        return try await service.post("/v1/app-attest/keys", body: body)
    }

    /// The key as the service shows it.
    func storedKey() async throws -> JSONValue? {
        let id = try #require(AttestedKeyID(base64: device.keyID))
        let name = Base64URL.encode(id.digest.bytes)
        return try await service.get("/v1/app-attest/keys/\(name)").json?["key"]
    }

    /// The member `attestation` with a proof that holds.
    func proof(for token: String, counter: UInt32) async throws -> JSONValue {
        let data = AttestedDevice.clientData(try await challenge(), for: token)
        return Self.proof(
            keyID: device.keyID, assertion: try device.assertion(of: data, counter: counter), data)
    }

    static func proof(keyID: String, assertion: String, _ clientData: String) -> JSONValue {
        ["key_id": .string(keyID), "assertion": .string(assertion), "client_data": .string(clientData)]
    }

    func send(
        _ token: String, _ proof: JSONValue?, to target: String = "/v1/sign-ins", version: String? = nil
    ) async throws -> ProbeResponse {
        var members: [(String, JSONValue)] = [("identity_token", .string(token))]
        if let proof { members.append(("attestation", proof)) }
        if let version { members.append(("app_version", .string(version))) }
        return try await service.post(target, body: Bodies.json(members))
    }
}

extension Trait where Self == TestScope<AttestedApp> {
    /// A service that attests the app and a client of it, and a device.
    static func attestedApp(
        _ mode: AppCheckMode = .enforced, environment: AttestationEnvironment = .production,
        hasOAuth: Bool = false
    ) -> Self {
        Self { body in
            let mint = try AttestationMint()
            let targets: [AppCheckTarget] = [
                .app(bundleID: AttestedApp.bundleID), .oauthClient(id: AttestedApp.client),
            ]
            let appID = try #require(AppID(teamID: AttestationMint.teamID, bundleID: AttestedApp.bundleID))
            let policies = targets.map { target in
                AppCheckPolicy(
                    target: target, appID: appID, platform: .iOS, mode: mode, environment: environment,
                    firstAttestingVersion: AppVersion("4.2"))
            }
            let options = RunningService.Options(
                appCheck: AppCheck(AppCheckPolicies(policies)),
                attestationRoot: TrustAnchor(pem: mint.root.pem), hasOAuth: hasOAuth)
            try await RunningService.with(options) { service in
                try await body(AttestedApp(service: service, device: try AttestedDevice(mint)))
            }
        }
    }
}

extension ProbeResponse {
    var cause: String? { json?["cause"]?.string }
    var kind: String? { json?["app_check"]?["kind"]?.string }
}
