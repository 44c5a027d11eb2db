import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SiwaBinary
import Synchronization
import TestSupport
import Testing

@testable import SiwaClient

/// `siwa dev` as a process: the service, the fake Apple and the fake Google.
final class World: Sendable {
    struct NotStarted: Error {}

    /// The world of a suite with the trait `oneWorld`.
    static var shared: World { TestScope.current }

    let directory: TemporaryDirectory
    private let ports: [Int]
    private let process: Mutex<Process>

    var siwa: String { "http://127.0.0.1:\(ports[0])" }
    var apple: String { "http://127.0.0.1:\(ports[1])" }
    var google: String { "http://127.0.0.1:\(ports[2])" }

    private init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        ports = try (0..<4).map { _ in try FreePort.find() }
        process = Mutex(Process())
    }

    static func with(_ body: (World) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            let world = try World(in: directory)
            defer { world.stop(SIGTERM) }
            try await world.start()
            try await body(world)
        }
    }

    private func start() async throws {
        let process = Process()
        process.executableURL = try BuiltSiwa.url(of: "siwa-dev")
        let options = ["--port", "--emulator-port", "--google-port", "--receiver-port"]
        process.arguments =
            ["dev", "--database", "sqlite://\(directory.path(of: "dev.sqlite"))"]
            + zip(options, ports).flatMap { [$0, "\($1)"] }
        process.environment = ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path]
        process.standardOutput = FileHandle.nullDevice
        let log = URL(filePath: directory.path(of: "dev.log"))
        try KeptLogs.makeFile(at: log)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.launchAlone()
        self.process.withLock { $0 = process }
        try await eventually {
            guard process.isRunning else { throw NotStarted() }
            let answer = try? await HTTPClient.shared.execute(
                .init(url: siwa + "/readyz"), timeout: .seconds(2))
            return answer?.status == .ok
        }
    }

    private func stop(_ how: Int32) {
        signal(how)
        signal(SIGCONT)
        process.withLock { $0.waitUntilExit() }
    }

    /// Returns when the service can no longer respond.
    func suspend() {
        signal(SIGSTOP)
        var status = siginfo_t()
        waitid(P_PID, id_t(process.withLock(\.processIdentifier)), &status, WSTOPPED)
    }

    func signal(_ number: Int32) {
        _ = process.withLock { kill($0.processIdentifier, number) }
    }

    /// Kills the service, and starts it again with the same database.
    func restart(_ meanwhile: () async throws -> Void) async throws {
        stop(SIGKILL)
        try await meanwhile()
        try await start()
    }

    func client(
        apiKey: String = "siwa_development", timeout: Duration = .seconds(12), attempts: Int = 3
    ) throws -> Siwa {
        try Siwa(
            url: siwa, apiKey: apiKey, clientID: "com.example.app", timeout: timeout, attempts: attempts,
            logger: .silent)
    }

    func person(_ members: JSONValue = [:]) async throws -> String {
        try await Self.post(apple + "/emulator/users", members)["sub"]?.string ?? ""
    }

    /// What the app posts to its backend after a sign-in on the iPhone.
    func form(_ sub: String, _ nonce: Nonce) async throws -> JSONValue {
        var form = try await Self.post(
            apple + "/emulator/identity-tokens?format=sign-in",
            ["sub": .string(sub), "code": .boolean(true), "nonce": .string(nonce.nonceSHA256)])
        form["nonce"] = .string(nonce.nonce)
        return form
    }

    func revokeConsent(_ sub: String) async throws {
        _ = try await Self.post(apple + "/emulator/users/\(sub)/revoke-consent", [:])
    }

    static func post(_ url: String, _ members: JSONValue) async throws -> JSONValue {
        let body = try JSONEncoder().encode(members)
        return try await post(url, String(decoding: body, as: UTF8.self), "application/json")
    }

    static func post(_ url: String, _ body: String, _ contentType: String) async throws -> JSONValue {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: contentType)
        request.body = .bytes(Data(body.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let data = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        return try JSONDecoder().decode(JSONValue.self, from: data)
    }
}

/// Starts one world for all tests of a suite, because a start costs more than a test.
struct OneWorld: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await World.with { try await TestScope.provide($0, to: body) }
    }
}

extension Trait where Self == OneWorld {
    static var oneWorld: Self { Self() }
}

/// A backend with sessions, which events end.
final class Backend: Sendable {
    private final class Tables: Sendable {
        let sessions = Mutex<[String: Date]>([:])
        let events = Mutex<[String]>([])
    }

    let feed: Events
    private let client: Siwa
    private let tables: Tables

    private init(_ client: Siwa, _ world: World) {
        let tables = Tables()
        (self.client, self.tables) = (client, tables)
        feed = client.events(
            cursor: FileCursor(path: world.directory.path(of: "cursor")),
            resync: { tables.events.withLock { $0.append("resync") } }, wait: 2)
    }

    static func with(_ client: Siwa, in world: World, _ body: (Backend) async throws -> Void) async throws {
        let backend = Backend(client, world)
        let task = Task { await backend.feed.run { backend.handle($0) } }
        defer { task.cancel() }
        try await body(backend)
        task.cancel()
        await task.value
    }

    var events: [String] { tables.events.withLock { $0 } }

    func hasSession(_ id: String) -> Bool { tables.sessions.withLock { $0[id] != nil } }

    func signIn(_ form: JSONValue) async throws -> SignInOutcome {
        let outcome = try await client.signIn(form: form)
        tables.sessions.withLock { $0[outcome.account.id] = outcome.credential.since }
        return outcome
    }

    private func handle(_ event: Event) {
        tables.events.withLock { $0.append(event.type.rawValue) }
        guard [.credentialRevoked, .sessionsEnded].contains(event.type) else { return }
        tables.sessions.withLock { sessions in
            sessions = sessions.filter { $0 != event.accountID || $1 > event.occurredAt }
        }
    }
}
