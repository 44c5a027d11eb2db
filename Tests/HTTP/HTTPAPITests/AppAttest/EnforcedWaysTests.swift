import AppAttestation
import AppleAccounts
import AttestationMint
import AuthorizationServer
import Certificates
import Encodings
import OAuthSamples
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import HTTPAPI

/// Every call that accepts an identity token of an app, or makes tokens for it: none is a way around enforced mode.
@Suite struct EnforcedWaysTests {
    enum Way: String, CaseIterable {
        case verifyIdentityToken, signIn
        case appFlipToken, appFlipOfServicesID, appFlipAccount
        case exchange, code, refresh, device, webCallback

        /// The call of the interface.
        var operation: String {
            switch self {
            case .verifyIdentityToken, .signIn: rawValue
            case .appFlipToken, .appFlipOfServicesID, .appFlipAccount: "answerAppFlip"
            case .exchange, .code, .refresh, .device: "issueTokens"
            case .webCallback: "receiveWebCallback"
            }
        }

        /// True for the token requests of the OAuth client.
        var isOfClient: Bool {
            switch self {
            case .exchange, .code, .refresh, .device: true
            case .verifyIdentityToken, .signIn, .appFlipToken, .appFlipOfServicesID, .appFlipAccount,
                .webCallback:
                false
            }
        }
    }

    /// The configuration that enforces.
    enum Enforcing: String, CaseIterable {
        /// The client says nothing.
        case bundleID
        /// The client says `off`.
        case bundleIDAlone
        case client
    }

    static let combinations = Way.allCases.flatMap { way in
        Enforcing.allCases.filter { $0 != .client || way.isOfClient }.map { (way, $0) }
    }

    @Test(arguments: combinations)
    func `no way in is open without a proof`(way: Way, enforcing: Enforcing) async throws {
        try await Self.with(enforcing) { app in
            let response = try await Self.send(way, app)
            #expect(response.status == (way == .webCallback ? 303 : 401), "\(response.text)")
            if way != .webCallback { #expect(response.cause == "proof_missing") }
            #expect(try await app.service.store.lastEventSequence() == 0)
            let key = SubjectKey(team: "A1B2C3D4E5", subject: try #require(AppleSubject(TokenMint.subject)))
            #expect(try await app.service.store.account(key) == nil)
        }
    }

    /// The list above is complete: these operations take a token of Apple's.
    @Test func `the ways are all calls whose body has an identity token`() {
        let operations = Endpoint.all.filter { endpoint in
            let schema = endpoint.operation.takes?.schema.components.first?.schema()
            let names = schema?.keywords["properties"]?.object?.members.map(\.name) ?? []
            return names.contains { ["identity_token", "subject_token", "id_token"].contains($0) }
        }
        #expect(Set(operations.map(\.name.description)) == Set(Way.allCases.map(\.operation)))
    }

    @Test func `the exchange at a client without a mode of its own passes with a proof, and is counted`()
        async throws
    {
        try await Self.with(.bundleID) { app in
            #expect(try await app.register().status == 201)
            let form = try await Self.exchange(app)
            let data = AttestedDevice.clientData(try await app.challenge(), for: FormEncoding.encode(form))
            let proof = [
                ("attestation_key_id", app.device.keyID),
                ("attestation_assertion", try app.device.assertion(of: data, counter: 1)),
                ("attestation_client_data", data),
            ]
            let tokens = try await Self.post(app, form + proof)
            #expect(tokens.status == 200, "\(tokens.text)")
            let report = try await app.service.get("/v1/apps/\(AttestedApp.bundleID)/app-check").json
            let clients = report?["clients"]?.array ?? []
            func client(_ id: String) -> JSONValue? { clients.first { $0["client_id"]?.string == id } }
            #expect(clients.count == 5)
            #expect(client("desktop")?["app_check"]?.string == "enforced")
            #expect(client("desktop")?["declared_app_check"]?.string == "off")
            #expect(client("desktop")?["basis"]?.string == "bundle_id")
            #expect(client(AttestedApp.bundleID)?["basis"]?.string == "own")
            #expect(client("google")?["basis"]?.string == "app_flip")
            #expect(client("google")?["app_check"]?.string == "enforced")
            #expect(client("shop")?["basis"]?.string == "browser")
            #expect(client("com.example.web")?["app_check"]?.string == "off")
            let metrics = try await app.service.get("/metrics").text
            let series = "siwa_app_check_requests_total{target_kind=\"oauth_client\",target=\"desktop\","
            #expect(metrics.contains(series + "kind=\"verified\"} 1\n"))
        }
    }

    @Test func `App Flip passes with a proof of the state, and an intent of Android without one`()
        async throws
    {
        try await Self.with(.bundleID) { app in
            #expect(try await app.register().status == 201)
            let token = try Bodies.token()
            let signedIn = try await app.send(token, try await app.proof(for: token, counter: 1))
            let id = try #require(signedIn.json?["account"]?["id"]?.string)
            let account = [("account_id", JSONValue.string(id))]
            let proof = try await app.proof(for: "a state", counter: 2)
            let flipped = try await Self.flip(app, account + [("attestation", proof)])
            #expect(flipped.json?["outcome"]?.string == "code", "\(flipped.text)")
            let moved = try await app.proof(for: "another state", counter: 3)
            let refused = try await Self.flip(app, account + [("attestation", moved)])
            #expect(refused.cause == "client_data_mismatch")
            // Android has no proof, but an identity token of a bundle ID is not from Android.
            let intent = [("redirect_uri", JSONValue.string(OAuthSample.googleURI))]
            let android = try await Self.flip(app, account + intent)
            #expect(android.json?["outcome"]?.string == "code", "\(android.text)")
            #expect(android.json?["code"]?.string != nil)
            let apple = [("identity_token", JSONValue.string(token))]
            #expect(try await Self.flip(app, apple + intent).cause == "proof_missing")
        }
    }

    /// The other client ID of the app plays a second bundle ID.
    @Test func `App Flip takes a proof of each bundle ID of the app, in the strictest mode of them`()
        async throws
    {
        let mint = try AttestationMint()
        let modes = [(AttestedApp.bundleID, AppCheckMode.monitored), (WebVisitor.webClientID, .enforced)]
        var options = RunningService.Options()
        options.attestationRoot = TrustAnchor(pem: mint.root.pem)
        options.hasOAuth = true
        options.appCheck = AppCheck(
            AppCheckPolicies(
                try modes.map { bundleID, mode in
                    AppCheckPolicy(
                        target: .app(bundleID: bundleID),
                        appID: try #require(AppID(teamID: AttestationMint.teamID, bundleID: bundleID)),
                        platform: .iOS, mode: mode, environment: .production, firstAttestingVersion: nil)
                }))
        try await RunningService.with(options) { service in
            let app = AttestedApp(service: service, device: try AttestedDevice(mint))
            let signedIn = try await app.send(try Bodies.token(), nil)
            let id = try #require(signedIn.json?["account"]?["id"]?.string)
            let account = [("account_id", JSONValue.string(id))]
            #expect(try await Self.flip(app, account).cause == "proof_missing")
            #expect(try await app.register().status == 201)
            let proof = try await app.proof(for: "a state", counter: 1)
            let flipped = try await Self.flip(app, account + [("attestation", proof)])
            #expect(flipped.json?["outcome"]?.string == "code", "\(flipped.text)")
            let replayed = try await Self.flip(app, account + [("attestation", proof)])
            #expect(replayed.cause == "counter_not_increased")
        }
    }

    /// Runs a service whose client `desktop` exchanges identity tokens of the bundle ID.
    private static func with(
        _ enforcing: Enforcing, _ body: @Sendable (AttestedApp) async throws -> Void
    ) async throws {
        let mint = try AttestationMint()
        let bundle = AppCheckPolicy(
            target: .app(bundleID: AttestedApp.bundleID),
            appID: try #require(AppID(teamID: AttestationMint.teamID, bundleID: AttestedApp.bundleID)),
            platform: .iOS, mode: enforcing == .client ? .off : .enforced, environment: .production,
            firstAttestingVersion: nil)
        var options = RunningService.Options()
        options.attestationRoot = TrustAnchor(pem: mint.root.pem)
        options.hasOAuth = true
        options.tokenClients = { draft in
            draft.clients[1].isFirstParty = true
            draft.clients[1].allowsNativeSignIn = true
            draft.clients[1].allowsDeviceGrant = true
            switch enforcing {
            case .bundleID: break
            case .bundleIDAlone: draft.clients[1].appCheck = "off"
            case .client: draft.clients[1].appCheck = "enforced"
            }
            draft.clients[2].androidPackage = "com.example.android"
            draft.clients[2].androidFingerprints = [Array(repeating: "AB", count: 32).joined(separator: ":")]
        }
        let settings = try OAuthSample.settings(
            in: RunningService.deployment(), app: TokenMint.clientID,
            appCheck: AppCheckPolicies([bundle]), options.tokenClients)
        options.appCheck = AppCheck(
            AppCheckPolicies([bundle] + settings.clients.clients.compactMap(\.appCheck)))
        try await RunningService.with(options) { service in
            try await body(AttestedApp(service: service, device: try AttestedDevice(mint)))
        }
    }

    private static func send(_ way: Way, _ app: AttestedApp) async throws -> ProbeResponse {
        let client = [("client_id", AttestedApp.client)]
        switch way {
        case .verifyIdentityToken:
            return try await app.send(try Bodies.token(), nil, to: "/v1/identity-tokens/verify")
        case .signIn: return try await app.send(try Bodies.token(), nil)
        case .appFlipToken: return try await flip(app, [("identity_token", .string(try Bodies.token()))])
        case .appFlipOfServicesID:
            let token = try Bodies.token { $0["aud"] = .string(WebVisitor.webClientID) }
            return try await flip(app, [("identity_token", .string(token))])
        case .appFlipAccount:
            return try await flip(app, [("account_id", "acc_01a1fca4-5699-766a-893b-c1a151389af8")])
        case .exchange: return try await post(app, try await exchange(app))
        case .code:
            return try await post(
                app,
                client + [
                    ("grant_type", "authorization_code"), ("code", "siwa_ac_x"),
                    ("code_verifier", String(repeating: "v", count: 43)),
                    ("redirect_uri", OAuthSample.desktopURI),
                ])
        case .refresh:
            return try await post(
                app, client + [("grant_type", "refresh_token"), ("refresh_token", "siwa_rt_x")])
        case .device:
            return try await post(
                app,
                client + [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", "x"),
                ])
        case .webCallback:
            let visitor = WebVisitor(app.service)
            // A token of the bundle ID in the form of a sign-in with the Services ID.
            return try await visitor.post(
                visitor.form(for: try await visitor.begin()) { $0["aud"] = .string(AttestedApp.bundleID) })
        }
    }

    private static func exchange(_ app: AttestedApp) async throws -> [(String, String)] {
        let client = [("client_id", AttestedApp.client)]
        let minted = try await OAuthEndpointTests.post(
            app.service, "/oauth/nonce", FormEncoding.encode(client))
        let digest = try #require(minted.json?["nonce_sha256"]?.string)
        let token = try Bodies.token { $0["nonce"] = .string(digest) }
        return client + [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("nonce", try #require(minted.json?["nonce"]?.string)), ("subject_token", token),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ]
    }

    private static func post(_ app: AttestedApp, _ form: [(String, String)]) async throws -> ProbeResponse {
        try await OAuthEndpointTests.post(app.service, "/oauth/token", FormEncoding.encode(form))
    }

    /// - Parameter members: The identity, and members that replace those of the link.
    private static func flip(
        _ app: AttestedApp, _ members: [(String, JSONValue)]
    ) async throws -> ProbeResponse {
        let link: [(String, JSONValue)] = [
            ("client_id", "google"), ("redirect_uri", .string(OAuthSample.appFlipURI)),
            ("state", "a state"), ("scope", "openid"), ("decision", "granted"),
        ]
        let names = Set(members.map(\.0))
        return try await app.service.post(
            "/v1/oauth/app-flip", body: Bodies.json(link.filter { !names.contains($0.0) } + members))
    }
}
