import AppleAccounts
import AppleEmulator
import Cryptography
import Encodings
import EventDelivery
import Foundation
import HTTPTypes
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition

/// The backends of `docs/integrate.md` with webhooks of a whole service in place of the loop that reads the feed.
@Suite(.serialized) struct BackendWebhookTests {
    typealias Trial = BackendHandlerTests.Trial

    private static let secrets =
        "\(WebhookSender.secret(WebhookSender.otherKey)) \(WebhookSender.secret(WebhookSender.key))"

    /// Runs a service that sends webhooks to this port, with a proxy for the calls of the backend.
    private static func withService(
        webhookPort port: Int,
        _ body: @Sendable (DisturbingProxy, String, Backend, String, TemporaryDirectory) async throws -> Void
    ) async throws {
        try await WholeSystem.withApple { emulator, directory in
            let apple = "http://127.0.0.1:\(try await emulator.port())"
            try await WholeSystem.withService(
                emulator, directory, webhooks: [try WebhookSender.settings(port: port)]
            ) { siwa in
                try await DisturbingProxy.run(before: "http://127.0.0.1:\(siwa.port)") { proxy, address in
                    try await body(proxy, address, siwa, apple, directory)
                }
            }
        }
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `a backend takes webhooks in place of the feed`(language: ExampleBackend) async throws {
        let port = try FreePort.find()
        try await Self.withService(webhookPort: port) { proxy, address, siwa, apple, directory in
            BackendHandlerTests.makeUnavailable(proxy)
            let trial = Trial(
                app: PhoneApp(backendPort: port, apple: apple), siwa: siwa, proxy: proxy, google: "")
            func run(_ body: () async throws -> Void) async throws {
                try await language.run(
                    siwa: address, secret: Backend.secret,
                    webhookSecrets: Self.secrets, port: port, in: directory
                ) { _ in try await body() }
            }
            var replayed: WebhookSender?
            var session: String?
            var missed: (subject: String, session: String?) = ("", nil)
            try await run {
                try await Self.start(trial)
                try await Self.revocation(trial)
                try await Self.disabling(trial)
                try await Self.signOutEverywhere(trial)
                try await Self.deletedAppleAccount(trial)
                try await Self.erasure(trial)
                try await Self.forgeries(trial)
                try await Self.failure(trial)
                (replayed, session) = try await Self.replays(trial)
                missed.subject = try await BackendHandlerTests.newSubject(trial)
                missed.session = try await trial.app.signIn(missed.subject).session
                #expect(!proxy.targets.contains { $0.contains("wait=30") })
            }
            // The other backends keep their tables in memory, as they keep their users.
            guard language == .python else { return }
            // siwa keeps what happens while the backend is away.
            try await trial.app.order("/emulator/users/\(missed.subject)/revoke-consent")
            try await run {
                let response = try await replayed?.send()
                let isSignedIn = try await trial.app.isSignedIn(session)
                #expect(response?.status == 200 && isSignedIn)
                try await eventually { try await !trial.app.isSignedIn(missed.session) }
                #expect(!proxy.targets.contains { $0.contains("wait=30") })
            }
        }
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `a backend with a malformed secret says so in one line, and one without has no route`(
        language: ExampleBackend
    ) async throws {
        let port = try FreePort.find()
        try await Self.withService(webhookPort: port) { _, address, _, _, directory in
            let failure = await #expect(throws: ExampleBackend.NotStarted.self) {
                try await language.run(
                    siwa: address, secret: Backend.secret, webhookSecrets: "whsec_c2hvcnQ=", in: directory
                ) { _ in }
            }
            let lines = failure?.description.split(separator: "\n") ?? []
            #expect(lines.count == 1 && lines.first?.contains("WEBHOOK_SECRETS: ") == true, "\(lines)")
            try await language.run(siwa: address, secret: Backend.secret, in: directory) { port in
                let response = try await WebhookSender(port: port, account: "acc_x").send()
                #expect(response.status == 404 && response.error == "not_found")
            }
        }
    }

    /// A new backend takes webhooks when it has read the states.
    private static func start(_ trial: Trial) async throws {
        try await eventually { trial.proxy.isHolding }
        let early = try await sender(trial, account: "acc_unknown").send()
        #expect(early.status == 503 && early.error == "try_again")
        trial.proxy.release()
        try await eventually { try await sender(trial, account: "acc_unknown").send().status == 200 }
    }

    private static func revocation(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await BackendHandlerTests.newSubject(trial)
        let early = try await app.signIn(subject)
        #expect(try await app.isSignedIn(early.session))
        try await app.order("/emulator/users/\(subject)/revoke-consent")
        try await eventually { try await !app.isSignedIn(early.session) }
        let late = try await app.signInAgain(subject)
        #expect(late.userID == early.userID)
        #expect(try await app.isSignedIn(late.session))
    }

    private static func disabling(_ trial: Trial) async throws {
        let (session, account) = try await signedIn(trial)
        try await BackendHandlerTests.change(account, "disable", in: trial, [("reason", "fraud")])
        try await eventually {
            try await trial.app.call(.GET, "/me", session: session).error == "account_disabled"
        }
        try await BackendHandlerTests.change(account, "enable", in: trial)
        try await eventually { try await trial.app.isSignedIn(session) }
    }

    private static func signOutEverywhere(_ trial: Trial) async throws {
        let (session, account) = try await signedIn(trial)
        try await BackendHandlerTests.passwordSignOut(trial, account, session)
    }

    private static func deletedAppleAccount(_ trial: Trial) async throws {
        let subject = try await BackendHandlerTests.newSubject(trial)
        let session = try await trial.app.signIn(subject).session
        try await trial.app.order("/emulator/users/\(subject)/delete-account")
        try await eventually { try await !trial.app.isSignedIn(session) }
        #expect(try await trial.siwa.account(subject).status == 404)
    }

    private static func erasure(_ trial: Trial) async throws {
        let subject = try await BackendHandlerTests.newSubject(trial)
        let first = try await trial.app.signIn(subject)
        let account = try await trial.siwa.account(subject)["id"]?.string ?? ""
        #expect(try await trial.siwa.delete("/v1/accounts/\(account)").status <= 202)
        try await eventually { try await !trial.app.isSignedIn(first.session) }
        #expect(try await trial.app.signInAgain(subject).userID != first.userID)
    }

    /// Messages that siwa did not send, or not now.
    private static func forgeries(_ trial: Trial) async throws {
        let (session, account) = try await signedIn(trial)
        let good = sender(trial, account: account)
        for (forgery, status, code) in [
            (good.with { $0.key = [UInt8](repeating: 7, count: 32) }, 401, "webhook_signature_invalid"),
            (good.with { $0.key = [] }, 401, "webhook_signature_invalid"),
            (good.with { $0.leavesOut = "webhook-signature" }, 400, "webhook_headers_invalid"),
            (good.with { $0.leavesOut = "webhook-timestamp" }, 400, "webhook_headers_invalid"),
            (good.with { $0.leavesOut = "webhook-id" }, 400, "webhook_headers_invalid"),
            (good.with { $0.age = 310 }, 400, "webhook_time_invalid"),
            (good.with { $0.age = -310 }, 400, "webhook_time_invalid"),
        ] as [(WebhookSender, UInt, String)] {
            let response = try await forgery.send()
            #expect(response.status == status && response.error == code, "\(response)")
            #expect(try await trial.app.isSignedIn(session))
        }
        // Some servers end the connection while the body is still on its way.
        let large = try? await good.with { $0.padding = 70_000 }.send()
        #expect(large.map { [400, 413].contains($0.status) } ?? true)
        #expect(try await trial.app.isSignedIn(session))
        // During a rotation the backend knows both secrets.
        #expect(try await good.with { $0.key = WebhookSender.otherKey }.send().status == 200)
        #expect(try await trial.app.call(.GET, "/me", session: session).error == "account_disabled")
    }

    /// siwa gets no 2xx for an event that could not be handled, and sends it again.
    private static func failure(_ trial: Trial) async throws {
        let (session, account) = try await signedIn(trial)
        let deletion = sender(trial, account: account).with { $0.type = "account_deleted" }
        trial.proxy.add(
            .init(target: "/v1/credentials", status: .serviceUnavailable, code: "overloaded", times: 3))
        #expect(try await deletion.send().status == 503)
        // The state is authorized, so that nothing is deleted.
        let before = trial.proxy.targets.count
        #expect(try await deletion.send().status == 200)
        #expect(trial.proxy.targets.dropFirst(before).contains { $0.contains("/v1/credentials") })
        #expect(try await trial.app.isSignedIn(session))
    }

    /// Returns a message that must not be handled again, and the session that it would suspend.
    private static func replays(_ trial: Trial) async throws -> (WebhookSender, String?) {
        let (session, account) = try await signedIn(trial)
        let disabling = sender(trial, account: account)
        #expect(try await disabling.send().status == 200)
        #expect(try await trial.app.call(.GET, "/me", session: session).error == "account_disabled")
        // Twice at once, and once more later.
        let enabling = sender(trial, account: account).with { $0.type = "account_enabled" }
        async let twice = [enabling.send().status, enabling.send().status]
        #expect(try await enabling.send().status == 200)
        #expect(try await twice == [200, 200])
        #expect(try await trial.app.isSignedIn(session))
        // A late copy of the first message does not undo the second.
        #expect(try await disabling.send().status == 200)
        #expect(try await trial.app.isSignedIn(session))
        return (disabling, session)
    }

    private static func sender(_ trial: Trial, account: String) -> WebhookSender {
        WebhookSender(port: trial.app.backendPort, account: account)
    }

    private static func signedIn(_ trial: Trial) async throws -> (session: String?, account: String) {
        let subject = try await BackendHandlerTests.newSubject(trial)
        let session = try await trial.app.signIn(subject).session
        #expect(try await trial.app.isSignedIn(session))
        return (session, try await trial.siwa.account(subject)["id"]?.string ?? "")
    }
}

/// Sends webhooks to a backend as siwa does, and as attackers would.
struct WebhookSender: Sendable {
    /// The secret that siwa signs with in tests, and the secret that the backend has beside it.
    static let (key, otherKey) = ([UInt8](0..<32), [UInt8](100..<132))

    static func secret(_ key: [UInt8]) -> String { "whsec_\(Base64.encode(key))" }

    /// The webhook of the backend in the settings of siwa.
    static func settings(port: Int) throws -> WebhookSettings {
        let url = "http://127.0.0.1:\(port)/siwa"
        return WebhookSettings(
            name: try #require(ReceiverName("backend")), url: try #require(WebAddress(url)), text: url,
            kinds: Set(AccountEvent.Kind.allCases), scope: .all, audience: nil,
            secrets: [try #require(WebhookSecret(secret(key)))], networks: [])
    }

    let port: Int
    var id = "evt_00000000-0000-7000-8000-\(UInt64.random(in: 100_000_000_000...999_999_999_999))"
    var type = "account_disabled"
    var account: String
    var key = Self.key
    /// Seconds from now.
    var age = 0.0
    var leavesOut: String?
    /// Bytes that follow the event.
    var padding = 0

    func send() async throws -> TestClient.Response {
        let event = JSONObject([
            ("id", .string(id)), ("type", .string(type)), ("team_id", "SIWADEV000"),
            ("account_id", .string(account)), ("occurred_at", "2026-01-01T00:00:00.000Z"),
            ("recorded_at", "2026-01-01T00:00:00.000Z"),
        ])
        let body = JSONValue.object(event).serialized() + [UInt8](repeating: 0x20, count: padding)
        let timestamp = "\(Int(Date().timeIntervalSince1970 - age))"
        let code = HMACSHA256(key: key).code(for: Array("\(id).\(timestamp).".utf8) + body)
        let headers = [
            ("content-type", "application/json"), ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", "v1,\(Base64.encode(code))"),
        ].filter { $0.0 != leavesOut }
        return try await TestClient.send(.POST, "http://127.0.0.1:\(port)/siwa", headers: headers, body: body)
    }

    /// The same message with changes.
    func with(_ change: (inout WebhookSender) -> Void) -> WebhookSender {
        var copy = self
        change(&copy)
        return copy
    }
}
