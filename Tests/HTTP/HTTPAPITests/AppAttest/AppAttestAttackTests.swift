import AppleAccounts
import AttestationMint
import StrictJSON
import TestSupport
import Testing

/// Objects, challenges and proofs that must not hold.
@Suite(.attestedApp()) struct AppAttestAttackTests {
    let app = AttestedApp.current

    /// Attestations that are wrong in one way, with their causes.
    enum BadAttestation: String, CaseIterable {
        case otherApp, development, withoutPrefix, otherChallenge, counter, otherRoot, notBase64
        case base64url, emptyObject, otherKeyId

        var cause: String {
            switch self {
            case .otherApp: "app_id_mismatch"
            case .development: "environment_mismatch"
            case .withoutPrefix, .otherChallenge: "nonce_mismatch"
            case .counter: "counter_not_zero"
            case .otherRoot: "chain_untrusted"
            case .notBase64, .base64url: "proof_malformed"
            case .emptyObject: "object_malformed"
            case .otherKeyId: "key_id_mismatch"
            }
        }

        func object(_ device: AttestedDevice, _ challenge: String) throws -> String {
            switch self {
            case .otherApp: try device.attestation(for: challenge) { $0.appID = "A1B2C3D4E5.com.other" }
            case .development:
                try device.attestation(for: challenge) { $0.aaguid = AttestationParts.development }
            case .withoutPrefix: try device.attestation(for: String(challenge.dropFirst(15)))
            case .otherChallenge: try device.attestation(for: challenge + "x")
            case .counter: try device.attestation(for: challenge) { $0.counter = 1 }
            case .otherRoot: try AttestedDevice(try AttestationMint()).attestation(for: challenge)
            case .notBase64: "%%%%"
            case .base64url: "-_-_"
            case .emptyObject: "oA=="
            case .otherKeyId: try device.attestation(for: challenge)
            }
        }
    }

    @Test(arguments: BadAttestation.allCases)
    func `refuses an attestation and uses its challenge up`(bad: BadAttestation) async throws {
        let challenge = try await app.challenge("attestation")
        let other = try AttestedDevice(app.device.mint)
        let refused = try await app.register(
            try bad.object(app.device, challenge), keyID: bad == .otherKeyId ? other.keyID : nil,
            challenge: challenge)
        #expect(refused.outcome == "401 attestation_invalid")
        #expect(refused.cause == bad.cause)
        #expect(try await app.register(challenge: challenge).cause == "challenge_used")
    }

    @Test func `refuses challenges that are expired, of the other purpose, or not ours`() async throws {
        let minted = try await app.challenge()
        #expect(try await app.register(challenge: minted).cause == "challenge_invalid")
        for text in ["x", "siwa-challenge-", String(minted.dropLast()) + "A", minted + "A"] {
            #expect(try await app.register(challenge: text).cause == "challenge_invalid")
        }
        let nonce = try await app.service.post("/v1/nonces").json?["nonce"]?.string ?? ""
        #expect(try await app.register(challenge: nonce).cause == "challenge_invalid")
        let expiring = try await app.challenge("attestation")
        app.service.clock.advance(by: .seconds(299))
        #expect(try await app.register(challenge: expiring).status == 201)
        let late = try await app.challenge("attestation")
        app.service.clock.advance(by: .seconds(300))
        let other = try AttestedDevice(app.device.mint)
        let expired = try await app.register(
            try other.attestation(for: late), keyID: other.keyID, challenge: late)
        #expect(expired.cause == "challenge_expired")
        #expect(expired.json?["re_attest"]?.bool == false)
    }

    @Test func `gives no challenge and takes no key for other apps`() async throws {
        for (clientID, code) in [
            ("com.example.web", "app_attest_not_configured"), ("com.unknown", "client_id_unknown"),
        ] {
            let body = Bodies.json([("purpose", "assertion"), ("client_id", .string(clientID))])
            #expect(try await app.service.post("/v1/app-attest/challenges", body: body).code == code)
            #expect(try await app.register(clientID: clientID).code == code)
        }
        let body = Bodies.json([("purpose", "assertion"), ("client_id", .string(AttestedApp.bundleID))])
        let limited = try await app.service.post(
            "/v1/app-attest/challenges", body: body, secret: RunningService.limitedSecret)
        #expect(limited.code == "caller_forbidden")
    }

    /// Proofs that are wrong in one way.
    enum BadProof: String, CaseIterable {
        case otherToken, attestationChallenge, usedChallenge, otherKey, otherSignature, otherApp
        case sameCounter, clientDataRewritten, extraMember, challengeTwice, paddedDigest, noClientData
        case extraProofMember, keyIdBase64url, longClientData, notJson

        var cause: String {
            switch self {
            case .otherToken: "client_data_mismatch"
            case .attestationChallenge: "challenge_invalid"
            case .usedChallenge: "challenge_used"
            case .otherKey: "attestation_key_unknown"
            case .otherSignature, .clientDataRewritten: "signature_invalid"
            case .otherApp: "app_id_mismatch"
            case .sameCounter: "counter_not_increased"
            case .extraMember, .challengeTwice, .paddedDigest, .notJson: "client_data_malformed"
            case .noClientData, .extraProofMember, .keyIdBase64url, .longClientData: "proof_malformed"
            }
        }
    }

    @Test(arguments: BadProof.allCases)
    func `refuses a proof, and signs nobody in`(bad: BadProof) async throws {
        #expect(try await app.register().status == 201)
        let token = try Bodies.token()
        let first = AttestedDevice.clientData(try await app.challenge(), for: token)
        let used = try await app.send(
            token,
            AttestedApp.proof(
                keyID: app.device.keyID, assertion: try app.device.assertion(of: first, counter: 1), first),
            to: "/v1/identity-tokens/verify")
        #expect(used.status == 200)
        let refused = try await app.send(token, try await proof(bad, app, token, first))
        #expect(refused.outcome == "401 attestation_invalid")
        #expect(refused.cause == bad.cause)
        #expect(try await app.service.store.lastEventSequence() == 0)
        // The key still works.
        #expect(try await app.send(token, try await app.proof(for: token, counter: 9)).status == 201)
    }

    private func proof(
        _ bad: BadProof, _ app: AttestedApp, _ token: String, _ usedData: String
    ) async throws -> JSONValue {
        let device = app.device
        let challenge = try await app.challenge(bad == .attestationChallenge ? "attestation" : "assertion")
        let good = AttestedDevice.clientData(challenge, for: token)
        var data =
            switch bad {
            case .otherToken: AttestedDevice.clientData(challenge, for: token + "x")
            case .usedChallenge: usedData
            case .extraMember: String(good.dropLast()) + #","more":1}"#
            case .challengeTwice: String(good.dropLast()) + #","challenge":"x"}"#
            case .paddedDigest: String(good.dropLast(2)) + #"="}"#
            case .longClientData: good + String(repeating: " ", count: 1024)
            case .notJson: "challenge=\(challenge)"
            case .attestationChallenge, .otherKey, .otherSignature, .otherApp, .sameCounter,
                .clientDataRewritten, .noClientData, .extraProofMember, .keyIdBase64url:
                good
            }
        let signer = bad == .otherSignature ? try AttestedDevice(device.mint) : device
        let assertion = try signer.assertion(of: data, counter: bad == .sameCounter ? 1 : 5) { parts in
            if bad == .otherApp { parts.appID = "A1B2C3D4E5.com.other" }
        }
        if bad == .clientDataRewritten { data = good.replacing(":", with: ": ") }
        var members: [(String, JSONValue)] = [
            ("key_id", .string(bad == .otherKey ? try AttestedDevice(device.mint).keyID : device.keyID)),
            ("assertion", .string(assertion)),
        ]
        if bad != .noClientData { members.append(("client_data", .string(data))) }
        if bad == .extraProofMember { members.append(("more", 1)) }
        if bad == .keyIdBase64url { members[0].1 = .string(String(device.keyID.dropLast())) }
        return .object(JSONObject(members))
    }

    @Test func `uses a challenge up when the sign-in is refused for another reason`() async throws {
        #expect(try await app.register().status == 201)
        let token = try Bodies.token()
        let proof = try await app.proof(for: token, counter: 5)
        let body = Bodies.json([
            ("identity_token", .string(token)), ("create", false), ("attestation", proof),
        ])
        #expect(try await app.service.post("/v1/sign-ins", body: body).code == "account_not_found")
        // The counter has not risen, but the challenge is used.
        #expect(try await app.send(token, proof).cause == "challenge_used")
        #expect(try await app.send(token, try await app.proof(for: token, counter: 5)).status == 201)
    }
}
