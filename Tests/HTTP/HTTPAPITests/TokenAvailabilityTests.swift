import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import OAuth
import OAuthSamples
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Token requests that are right and get nothing now: 503 with the time of the next attempt.
@Suite struct TokenAvailabilityTests {
    private var service: RunningService { .current }

    private static func options(_ store: ReferenceStore) -> RunningService.Options {
        var options = RunningService.Options()
        (options.hasOAuth, options.store) = (true, store)
        options.tokenClients = { draft in
            draft.clients[1].isFirstParty = true
            draft.clients[1].allowsNativeSignIn = true
            draft.clients[1].allowsDeviceGrant = true
        }
        return options
    }

    private static func signIn(_ service: RunningService) async throws -> AccountID {
        let signedIn = try await service.signIn()
        return try #require(signedIn.json?["account"]?["id"]?.string.flatMap { AccountID($0) })
    }

    /// Links the account with Google, and returns the code.
    private static func code(for account: AccountID, _ service: RunningService) async throws -> String {
        let flip = try await service.post(
            "/v1/oauth/app-flip",
            body: Bodies.json([
                ("client_id", "google"), ("redirect_uri", .string(OAuthSample.appFlipURI)), ("state", "s"),
                ("scope", "openid email"), ("decision", "granted"), ("account_id", .string(account.rawValue)),
            ]))
        return try #require(
            WebVisitor.parameters(of: flip.json?["redirect_to"]?.string ?? "")["code"], "\(flip.text)")
    }

    private static func post(_ service: RunningService, _ form: [(String, String)]) async throws
        -> ProbeResponse
    { try await OAuthEndpointTests.post(service, "/oauth/token", FormEncoding.encode(form)) }

    private static let google = [("client_id", "google"), ("client_secret", OAuthSample.googleSecret)]
    private static let desktop = [("client_id", "desktop")]

    private static func redeem(_ code: String, _ service: RunningService) async throws -> ProbeResponse {
        try await post(
            service,
            google + [
                ("grant_type", "authorization_code"), ("code", code),
                ("redirect_uri", OAuthSample.appFlipURI),
            ])
    }

    /// Exchanges an identity token of Apple with a new nonce.
    private static func exchange(
        _ service: RunningService, _ more: [(String, String)] = [],
        _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> ProbeResponse {
        let minted = try await OAuthEndpointTests.post(service, "/oauth/nonce", FormEncoding.encode(desktop))
        let digest = try #require(minted.json?["nonce_sha256"]?.string)
        let token = try Bodies.token {
            $0["nonce"] = .string(digest)
            change(&$0)
        }
        return try await post(
            service,
            desktop + [
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                ("nonce", try #require(minted.json?["nonce"]?.string)), ("subject_token", token),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ] + more)
    }

    /// Expects an answer that says when to come back, and only that.
    private static func expectUnavailable(_ response: ProbeResponse, for seconds: String) {
        #expect(response.status == 503)
        #expect(response.json?["error"]?.string == "temporarily_unavailable")
        #expect(response["retry-after"] == seconds)
        #expect(response["cache-control"] == "no-store")
        #expect(response.json?["access_token"] == nil)
    }

    @Test func `the 101st token family of an hour waits for its end, and its code is kept`() async throws {
        let store = ReferenceStore()
        try await RunningService.with(Self.options(store)) { service in
            let account = try await Self.signIn(service)
            for client: OAuthClientID in ["google", "desktop"] {
                let first: UInt64 = client == "google" ? 1 : 1001
                for number in first..<first + 100 {
                    let moment = Moment(milliseconds: RunningService.now)
                    try await store.authorize(.sample(number, account: account, client: client, at: moment))
                    try await store.redeem(.sample(number, client: client, expiresAt: .last, at: moment))
                }
            }
            // Five minutes before the end of the hour.
            service.clock.advance(by: .seconds(3300))
            let code = try await Self.code(for: account, service)
            Self.expectUnavailable(try await Self.redeem(code, service), for: "300")
            Self.expectUnavailable(try await Self.exchange(service), for: "300")
            // A part of a second counts as one.
            service.clock.advance(by: .milliseconds(299_500))
            Self.expectUnavailable(try await Self.redeem(code, service), for: "1")

            let metrics = try await service.get("/metrics").text
            for (client, count) in [("google", 2), ("desktop", 1)] {
                let labels = "client=\"\(client)\",reason=\"family_limit_reached\""
                #expect(metrics.contains("siwa_oauth_token_refusals_total{\(labels)} \(count)\n"))
            }
            let lines = service.requestLines.filter { $0.contains("reason=family_limit_reached") }
            #expect(lines.count == 3)
            #expect(lines.allSatisfy { $0.contains("code=temporarily_unavailable") })

            service.clock.advance(by: .milliseconds(500))
            let tokens = try await Self.redeem(code, service)
            #expect(tokens.status == 200 && tokens["retry-after"] == nil, "\(tokens.text)")
            #expect(try await Self.exchange(service).status == 200)
        }
    }

    @Test func `while no key opens, nothing is used up, and the right key gives the tokens`() async throws {
        let store = ReferenceStore()
        // Keys that another sealing key has sealed.
        let settings = try OAuthSample.settings(in: RunningService.deployment(), app: TokenMint.clientID)
        let other = try #require(SealingKey(name: "other", bytes: Array(repeating: 9, count: 32)))
        try await SigningKeys(
            for: settings, store: store, sealingKeys: try #require(SealingKeyRing([other])),
            now: { Moment(milliseconds: RunningService.now) }, logger: .silent
        ).refresh()
        try await RunningService.with(Self.options(store)) { service in
            let account = try await Self.signIn(service)
            let code = try await Self.code(for: account, service)
            let assertion =
                Self.google + [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", "x"),
                ]
            let refused = [
                try await Self.redeem(code, service), try await Self.exchange(service),
                try await Self.post(
                    service, Self.desktop + [("grant_type", "refresh_token"), ("refresh_token", "x")]),
                try await Self.post(
                    service,
                    Self.desktop + [
                        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", "x"),
                    ]), try await Self.post(service, assertion + [("intent", "get")]),
                try await Self.post(service, assertion + [("intent", "create")]),
            ]
            for response in refused { Self.expectUnavailable(response, for: "60") }
            // It gives no token.
            #expect(try await Self.post(service, assertion + [("intent", "check")]).status == 400)
            #expect(service.requestLines.count { $0.contains("code=signing_keys_shut") } == refused.count)
            let metrics = try await service.get("/metrics").text
            #expect(
                metrics.contains("siwa_http_refusals_total{code=\"signing_keys_shut\"} \(refused.count)\n"))

            for record in try await store.signingKeys() {
                #expect(try await store.removeSigningKey(record, by: .service, at: record.createdAt))
            }
            service.clock.advance(by: .seconds(1))
            let tokens = try await Self.redeem(code, service)
            #expect(tokens.status == 200, "\(tokens.text)")
            #expect(try await Self.exchange(service).status == 200)
        }
    }

    @Test(arguments: ["/v1/event-receivers/billing/poll", "/oauth/events/poll"])
    func `a poll for events that no key can sign has the same code`(path: String) async throws {
        let store = ReferenceStore()
        try await store.addReceivers(EventSample.names, at: 0)
        var options = EventSample.options(store: store)
        options.events = { store, feed, now in
            try EventSample.streams(store, feed, now) { throw SigningKeysShut() }
        }
        try await RunningService.with(options) { service in
            _ = try await Self.signIn(service)
            let fields = path.hasPrefix("/oauth") ? ["Authorization": EventSample.shop] : [:]
            if !fields.isEmpty {
                let asked = try await service.post(
                    "/oauth/events/verify", body: #"{"stream_id":"client:shop"}"#, secret: nil,
                    fields: fields)
                #expect(asked.status == 204)
            }
            let response = try await service.post(
                path, body: #"{"returnImmediately":true}"#,
                secret: fields.isEmpty ? RunningService.secret : nil, fields: fields)
            #expect(response.status == 503 && response["retry-after"] == "60", "\(response.text)")
            #expect(service.requestLines.contains { $0.contains("code=signing_keys_shut") })
        }
    }

    @Test(.service(TokenAvailabilityTests.options(ReferenceStore())))
    func `a token exchange names what was dropped, and no other response has the member`() async throws {
        let user = #"{"name":{"firstName":"Ada\nMaria","lastName":"LONG"}}"#.replacing(
            "LONG", with: String(repeating: "x", count: 300))
        let tokens = try await Self.exchange(service, [("user", user)]) {
            $0["real_user_status"] = "2"
            $0["org_id"] = .null
        }
        #expect(tokens.status == 200, "\(tokens.text)")
        let dropped = tokens.json?["dropped"]?.array?.compactMap(\.string)
        #expect(dropped == ["real_user_status", "org_id", "user.name"])
        let plain = try await Self.exchange(service)
        #expect(plain.status == 200 && plain.json?["dropped"] == nil)
        let refreshed = try await Self.post(
            service,
            Self.desktop + [
                ("grant_type", "refresh_token"),
                ("refresh_token", try #require(tokens.json?["refresh_token"]?.string)),
            ])
        #expect(refreshed.status == 200 && refreshed.json?["dropped"] == nil)
    }
}
