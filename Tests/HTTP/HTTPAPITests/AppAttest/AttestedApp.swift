import AppAttestation
import AttestationMint
import Certificates
import Cryptography
import Encodings
import StrictJSON
import Testing
import TokenMint

/// A genuine app of a test, and the service that judges it.
struct AttestedApp: Sendable {
    static let bundleID = AttestationMint.bundleID
    static let client = "desktop"

    let service: RunningService
    let device: AttestedDevice

    /// Runs a service that trusts the root of a mint.
    static func with<Result: Sendable>(
        _ mode: AppCheckMode = .enforced, environment: AttestationEnvironment = .production,
        hasOAuth: Bool = false, _ body: @Sendable (AttestedApp) async throws -> Result
    ) async throws -> Result {
        let mint = try AttestationMint()
        var options = RunningService.Options()
        options.attestationRoot = TrustAnchor(pem: mint.root.pem)
        options.hasOAuth = hasOAuth
        let targets: [AppCheckTarget] = [.app(bundleID: bundleID), .oauthClient(id: client)]
        options.appCheck = AppCheck(
            AppCheckPolicies(
                try targets.map { target in
                    AppCheckPolicy(
                        target: target,
                        appID: try #require(AppID(teamID: AttestationMint.teamID, bundleID: bundleID)),
                        platform: .iOS, mode: mode, environment: environment,
                        firstAttestingVersion: AppVersion("4.2"))
                }))
        return try await RunningService.with(options) { service in
            try await body(AttestedApp(service: service, device: try AttestedDevice(mint)))
        }
    }

    func challenge(_ purpose: String = "assertion") async throws -> String {
        let body = Bodies.json([("purpose", .string(purpose)), ("client_id", .string(Self.bundleID))])
        let response = try await service.call("POST", "/v1/app-attest/challenges", body: body)
        #expect(response.status == 201)
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
        return try await service.call("POST", "/v1/app-attest/keys", body: body)
    }

    /// The key as the service shows it.
    func storedKey() async throws -> JSONValue? {
        let id = try #require(AttestedKeyID(base64: device.keyID))
        let name = Base64URL.encode(id.digest.bytes)
        return try await service.call("GET", "/v1/app-attest/keys/\(name)").json?["key"]
    }

    /// The member `attestation` with a proof that holds.
    func proof(for token: String, counter: UInt32) async throws -> JSONValue {
        let data = AttestedDevice.clientData(try await challenge(), for: token)
        return Self.proof(
            keyID: device.keyID, assertion: try device.assertion(of: data, counter: counter), data)
    }

    static func proof(keyID: String, assertion: String, _ clientData: String) -> JSONValue {
        .object(
            JSONObject([
                ("key_id", .string(keyID)), ("assertion", .string(assertion)),
                ("client_data", .string(clientData)),
            ]))
    }

    func send(
        _ token: String, _ proof: JSONValue?, to target: String = "/v1/sign-ins", version: String? = nil
    ) async throws -> ProbeResponse {
        var members: [(String, JSONValue)] = [("identity_token", .string(token))]
        if let proof { members.append(("attestation", proof)) }
        if let version { members.append(("app_version", .string(version))) }
        return try await service.call("POST", target, body: Bodies.json(members))
    }
}

extension ProbeResponse {
    var cause: String? { json?["cause"]?.string }
    var kind: String? { json?["app_check"]?["kind"]?.string }
}
