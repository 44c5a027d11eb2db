import AppleEmulator
import EmulatorServer
import Foundation
import HTTPEngine
import KeySets
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The fake Apple and the service as `siwa dev` runs them, in this process, over real sockets.
struct WholeSystem: Sendable {
    static let team = DevelopmentSettings.team
    static let clientID = "com.example.app"
    static let webClientID = "com.example.web"

    let apple: EmulatorState
    let directory: TemporaryDirectory
    let backend: Backend

    /// Bounds without rejections for overload: a round of the event loops takes many times as long in a test
    /// build.
    private static var admission: AdmissionBounds {
        var bounds = AdmissionBounds()
        bounds.target = .seconds(60)
        bounds.notificationTarget = .seconds(60)
        return bounds
    }

    /// Runs both during `body`. `bounds` are for tests that cannot wait for the default bounds.
    static func with<Result: Sendable>(
        bounds: KeySetBounds = KeySetBounds(), _ body: @Sendable (WholeSystem) async throws -> Result
    ) async throws -> Result {
        try await withApple { emulator, directory in
            try await withService(emulator, directory, bounds: bounds) { backend in
                try await body(WholeSystem(apple: emulator.state, directory: directory, backend: backend))
            }
        }
    }

    /// Signing keys of the fake Apple, made once because making keys takes longer than most tests.
    private static let appleKeys = Task { try await SigningKey.generate(count: 3) }

    /// Runs the fake Apple alone.
    static func withApple<Result: Sendable>(
        configuring change: (inout EmulatorConfiguration) throws -> Void = { _ in },
        _ body: @Sendable (EmulatedApple, TemporaryDirectory) async throws -> Result
    ) async throws -> Result {
        var configuration = try EmulatorConfiguration(teamID: team, clientIDs: [clientID, webClientID])
        configuration.keys = try await appleKeys.value
        try change(&configuration)
        let emulator = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        return try await TemporaryDirectory.with { directory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await emulator.run() }
                _ = try await emulator.port()
                let result = try await body(emulator, directory)
                group.cancelAll()
                return result
            }
        }
    }

    /// Settings of a service process that uses this fake Apple.
    static func variables(_ emulator: EmulatedApple) async throws -> [String: String] {
        [
            "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:\(try await emulator.port())",
            "APPLE_TEAM_ID": team, "APPLE_CLIENT_IDS": "\(clientID),\(webClientID)",
            "SIWA_SEALING_KEYS": ServiceProcess.sealingKey(), "SIWA_API_KEY_HASHES": Backend.secretHash,
        ]
    }

    /// Runs the service. Another call is a restart; on PostgreSQL, a call inside `body` starts a replica.
    ///
    /// - Parameter database: URL; `nil` for a file in `directory`.
    static func withService<Result: Sendable>(
        _ emulator: EmulatedApple, _ directory: TemporaryDirectory, database: String? = nil,
        bounds: KeySetBounds = KeySetBounds(), waitsForKeys: Bool = true, webhooks: [WebhookSettings] = [],
        _ body: @Sendable (Backend) async throws -> Result
    ) async throws -> Result {
        var settings = try DevelopmentSettings(
            clientIDs: [clientID, webClientID], port: 0, applePort: try await emulator.port(),
            secret: Backend.secret, database: database ?? "sqlite://\(directory.path)/siwa.sqlite"
        ).settings()
        settings.webhooks = webhooks
        let service = try await ComposedService(
            settings: settings, observation: ProcessObservation(level: .error) { _ in }, signals: [],
            keySetBounds: bounds, admission: Self.admission)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            let port = try await service.boundPort()
            try emulator.state.setNotificationURL("http://127.0.0.1:\(port)/v1/apple/notifications")
            if waitsForKeys { await service.waitForKeys() }
            let result = try await body(Backend(port: port))
            await service.stop()
            try await group.waitForAll()
            return result
        }
    }
}

/// The iOS app of an example backend, with the fake Apple in place of the phone's own sheet.
struct PhoneApp: Sendable {
    typealias Members = TestClient.Members
    typealias Response = TestClient.Response

    let backendPort: Int
    /// The address of the fake Apple.
    let apple: String

    /// The body that the app posts after the user has agreed: token, code, and the raw nonce of the backend.
    func authorization(
        of subject: String, _ more: Members = []
    ) async throws -> (members: Members, nonceDigest: JSONValue) {
        let nonce = try await call(.POST, "/nonce")
        let digest = nonce["nonce_sha256"] ?? .null
        let minted = try await order(
            "/emulator/identity-tokens?format=sign-in",
            [("sub", .string(subject)), ("code", true), ("nonce", digest)] + more)
        let members = minted.object?.members.filter { $0.name != "nonce" } ?? []
        return (members.map { ($0.name, $0.value) } + [("nonce", nonce["nonce"] ?? .null)], digest)
    }

    func signIn(_ subject: String, session: String? = nil) async throws -> Response {
        try await call(.POST, "/signin", try await authorization(of: subject).members, session: session)
    }

    /// Signs in again after a revocation. A sign-in in the same second is refused, because Apple's tokens
    /// have whole seconds.
    func signInAgain(_ subject: String) async throws -> Response {
        var answer = try await signIn(subject)
        try await eventually {
            if answer.error == "credential_revoked" { answer = try await signIn(subject) }
            return answer.error != "credential_revoked"
        }
        return answer
    }

    func isSignedIn(_ session: String?) async throws -> Bool {
        try await call(.GET, "/me", session: session).status == 200
    }

    func call(
        _ method: HTTPMethod, _ path: String, _ members: Members? = nil, session: String? = nil
    ) async throws -> Response {
        try await TestClient.send(
            method, "http://127.0.0.1:\(backendPort)\(path)", json: members, bearer: session)
    }

    /// Sends a control request to the fake Apple.
    @discardableResult
    func order(_ path: String, _ members: Members = []) async throws -> JSONValue {
        try await TestClient.send(.POST, apple + path, json: members).json ?? .null
    }
}

/// App Attest on the fake iPhone, with the routes of the backend.
extension PhoneApp {
    /// A key that a fake iPhone has made, and Apple has attested.
    struct AttestedKey {
        let id: String
        /// The body that registers the key.
        let members: Members
    }

    func makeKey(wrong faults: [String] = []) async throws -> AttestedKey {
        let challenge = try await challenge("attestation")
        var order: Members = [("challenge", challenge)]
        if !faults.isEmpty { order.append(("wrong", .array(faults.map { .string($0) }))) }
        let made = try await self.order("/emulator/app-attest/keys", order)
        let id = try #require(made["key_id"]?.string)
        return AttestedKey(
            id: id,
            members: [
                ("key_id", .string(id)), ("attestation", made["attestation"] ?? .null),
                ("challenge", challenge),
            ])
    }

    /// Makes a key and registers it. Returns its ID.
    func attestedKey() async throws -> String {
        let key = try await makeKey()
        let registered = try await call(.POST, "/app-attest/keys", key.members)
        #expect(registered.status == 200)
        #expect(registered["is_new_key"] == true)
        return key.id
    }

    /// The member `attestation` that vouches for a text.
    func proof(_ keyID: String, of text: String) async throws -> (String, JSONValue) {
        let members: Members = [
            ("key_id", .string(keyID)), ("challenge", try await challenge("assertion")),
            ("vouch_for", .string(text)),
        ]
        return ("attestation", try await order("/emulator/app-attest/assertions?format=text", members))
    }

    private func challenge(_ purpose: String) async throws -> JSONValue {
        let response = try await call(.POST, "/app-attest/challenges", [("purpose", .string(purpose))])
        #expect(response.status == 200)
        return response["challenge"] ?? .null
    }
}

/// What a backend says to its app.
extension PhoneApp.Response {
    var session: String? { self["session"]?.string }
    var userID: String? { self["user_id"]?.string }
    /// The reason why a proof was refused.
    var cause: String? { self["cause"]?.string }
    var canReAttest: Bool? { self["re_attest"]?.bool }
}

extension PhoneApp.Members {
    var identityToken: String { first { $0.0 == "identity_token" }?.1.string ?? "" }
}
