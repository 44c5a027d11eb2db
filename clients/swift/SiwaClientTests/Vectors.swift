import Foundation
import Logging
import Synchronization
import TestSupport

@testable import SiwaClient

/// Plays one vector of Fixtures/clients, whose README.md describes the format.
struct VectorPlayer {
    struct Mistake: Error, CustomStringConvertible { let description: String }

    static let folder = ProjectFolder.root.appending(path: "Fixtures/clients")

    let vector: [String: JSONValue]

    init(_ file: URL) throws {
        vector = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file)).object ?? [:]
    }

    /// Throws unless the client makes exactly the requests of the vector, with its results.
    static func play(_ file: URL) async throws {
        let player = try VectorPlayer(file)
        let server = try VectorServer.shared.get()
        let port = try server.ask(file.path)
        try await player.run(port: port)
        let verdict = try server.ask(port)
        guard verdict == #"{"verdict": "passed"}"# else { throw Mistake(description: verdict) }
    }

    private func run(port: String) async throws {
        let clock = VectorClock(at: vector["at"]?.string ?? "")
        let warnings = Warnings()
        let options = vector["client"]?.object ?? [:]
        let client = try Siwa(
            url: "http://127.0.0.1:\(port)", apiKey: options["api_key"]?.string ?? "siwa_development",
            clientID: options["client_id"]?.string ?? "com.example.app",
            issuer: options["issuer"]?.string ?? "https://signin.example.com",
            timeout: .seconds(options["timeout_seconds"]?.integer ?? 12),
            attempts: options["attempts"]?.integer ?? 3, logger: warnings.logger, clock: clock)
        for step in vector["steps"]?.array ?? [] {
            let step = VectorStep(members: step.object ?? [:])
            if let time = step.members["at"]?.string {
                clock.state.withLock { $0.now = VectorClock.date(time) }
            }
            clock.state.withLock { $0.waits = [] }
            warnings.count.withLock { $0 = 0 }
            let began = ContinuousClock.now
            let results = try await withThrowingTaskGroup { group in
                for _ in 0..<(step.members["together"]?.integer ?? 1) {
                    group.addTask { try await step.result(of: client, clock) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let took = ContinuousClock.now - began
            let name = step.members["error"] == nil ? "returns" : "error"
            for result in results where !Self.matches([name: step.members[name] ?? .null], result) {
                throw Mistake(description: "\(step.call): expected \(step.members), found \(result)")
            }
            let waits = clock.state.withLock(\.waits)
            guard .array(waits) == step.members["waits"] ?? .array([]) else {
                throw Mistake(description: "\(step.call): waits \(waits)")
            }
            let count = warnings.count.withLock { $0 }
            guard count == step.members["warnings"]?.integer ?? count else {
                throw Mistake(description: "\(step.call): warnings \(count)")
            }
            guard took < .seconds(step.members["within_seconds"]?.integer ?? 60) else {
                throw Mistake(description: "\(step.call): \(took)")
            }
        }
    }

    private static func matches(_ wanted: JSONValue, _ found: JSONValue?) -> Bool {
        switch wanted {
        case .object(let members):
            guard let other = found?.object else { return false }
            return members.allSatisfy { matches($0.value, other[$0.key]) }
        case .array(let elements):
            guard let others = found?.array, others.count == elements.count else { return false }
            return zip(elements, others).allSatisfy { matches($0, $1) }
        case .null: return found == nil || found == .null
        case .boolean, .integer, .number, .string: return wanted == found
        }
    }
}

/// One call of a vector.
struct VectorStep {
    private struct HandlerFailure: Error {}

    let members: [String: JSONValue]

    var call: String { members["call"]?.string ?? "" }

    /// The body of a webhook.
    static func body(of members: [String: JSONValue]) -> Data {
        let parts = members["body_parts"]?.array?.compactMap(\.object) ?? [["text": members["body"] ?? ""]]
        return parts.reduce(into: Data()) { body, part in
            body += Data(
                String(repeating: part["text"]?.string ?? "", count: part["times"]?.integer ?? 1).utf8)
        }
    }

    static func headers(of members: [String: JSONValue]) -> [(name: String, value: String)] {
        (members["headers"]?.object ?? [:]).map { (name: $0, value: $1.string ?? "") }
    }

    func result(of client: Siwa, _ clock: VectorClock) async throws -> JSONValue {
        do {
            return ["returns": try await value(of: client, clock)]
        } catch let error as SiwaError {
            return [
                "error": [
                    "code": .string(error.code), "status": error.status.map { .integer($0) } ?? .null,
                    "request_id": error.requestID.map { .string($0) } ?? .null,
                    "retry_after": error.retryAfter.map { .integer($0) } ?? .null,
                    "cause": error.cause.map { .string($0) } ?? .null,
                    "re_attest": error.reAttest.map { .boolean($0) } ?? .null,
                ]
            ]
        }
    }

    private func value(of client: Siwa, _ clock: VectorClock) async throws -> JSONValue {
        let arguments = members["arguments"]?.object ?? [:]
        let form = arguments["form"] ?? .null
        func text(_ name: String) -> String? { arguments[name]?.string }
        func time(_ name: String) -> Date? { text(name).map(VectorClock.date) }
        func texts(_ name: String) -> [String] { arguments[name]?.array?.compactMap(\.string) ?? [] }
        let id = text("account_id") ?? ""
        let isMinted = arguments["minted_nonce"]?.boolean ?? true
        switch call {
        case "make_nonce": return try Self.json(await client.makeNonce())
        case "sign_in":
            let create = arguments["create"]?.boolean ?? true
            return try Self.json(await client.signIn(form: form, create: create, mintedNonce: isMinted))
        case "verify": return try Self.json(await client.verify(form: form, mintedNonce: isMinted))
        case "web_result": return try Self.json(await client.webResult(code: text("code") ?? ""))
        case "account": return try Self.json(await client.account(id))
        case "account_of":
            return try Self.json(await client.account(of: text("sub") ?? "", clientID: text("client_id")))
        case "find_accounts":
            return try Self.json(
                await client.findAccounts(
                    email: text("email"), name: text("name"), disabled: arguments["disabled"]?.boolean,
                    after: text("after"), limit: arguments["limit"]?.integer))
        case "state":
            return try Self.json(await client.state(of: text("sub") ?? "", clientID: text("client_id")))
        case "states":
            return try Self.json(await client.states(of: texts("subs"), clientID: text("client_id")))
        case "disable":
            let reason = DisablingReason(rawValue: text("reason") ?? "")
            return try Self.json(await client.disable(id, reason: reason, until: time("until")))
        case "enable": return try Self.json(await client.enable(id))
        case "sign_out":
            return try Self.json(await client.signOut(id, google: arguments["google"]?.boolean ?? false))
        case "delete": return try Self.json(await client.delete(id))
        case "erasure": return try Self.json(await client.erasure(text("erasure_id") ?? ""))
        case "grants": return try Self.json(await client.grants(of: id))
        case "end_grant":
            try await client.endGrant(text("grant_id") ?? "", of: id)
            return .null
        case "make_challenge": return try Self.json(await client.makeChallenge(text("purpose") ?? ""))
        case "register_key": return try Self.json(await client.registerKey(form: form))
        case "app_flip_prompt":
            return try Self.json(
                await client.appFlipPrompt(
                    form: form, accountID: text("account_id"), authenticatedAt: time("authenticated_at")))
        case "app_flip":
            return try Self.json(
                await client.appFlip(
                    form: form, accountID: text("account_id"), authenticatedAt: time("authenticated_at")))
        case "introspect":
            return try Self.json(
                await client.introspect(
                    bearer: text("bearer"), audience: text("audience") ?? "", scopes: texts("scopes")))
        case "verify_token":
            return try Self.json(
                await client.verifyToken(
                    bearer: text("bearer"), audience: text("audience") ?? "", scopes: texts("scopes")))
        case "verify_webhook":
            // The secret is an option of the client.
            let client = try Siwa(
                url: "http://unused", apiKey: "unused", webhookSecrets: text("secrets"), clock: clock)
            return try Self.json(
                client.verifyWebhook(headers: Self.headers(of: arguments), body: Self.body(of: arguments)))
        case "events": return try await trace(of: client, arguments)
        default: throw VectorPlayer.Mistake(description: "the call \(call) is unknown")
        }
    }

    private func trace(of client: Siwa, _ arguments: [String: JSONValue]) async throws -> JSONValue {
        let store = TracingStore(cursor: arguments["cursor"]?.string)
        let resync: (@Sendable () async throws -> Void)? =
            arguments["resync"]?.boolean == true ? { @Sendable in store.note("resync") } : nil
        let feed = client.events(cursor: store, resync: resync)
        do {
            for try await event in feed {
                if event.id == arguments["fail_at"]?.string { throw HandlerFailure() }
                store.note(event.id)
                if store.trace.count >= arguments["take"]?.integer ?? 0 { break }
            }
        } catch is HandlerFailure {}
        return .array(store.trace.map { .string($0) })
    }

    private static func json(_ model: some Encodable) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder.siwa.encode(model))
    }
}

/// The process of `server.py`, which plays siwa until the tests end.
private final class VectorServer: Sendable {
    static let shared = Result { try VectorServer() }

    private let pipes: Mutex<(input: FileHandle, output: FileHandle)>

    private init() throws {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", VectorPlayer.folder.appending(path: "server.py").path]
        process.standardInput = input
        process.standardOutput = output
        try process.launchAlone()
        pipes = Mutex((input.fileHandleForWriting, output.fileHandleForReading))
    }

    /// Sends a line, and returns the server's line.
    func ask(_ line: String) throws -> String {
        try pipes.withLock { pipes in
            try pipes.input.write(contentsOf: Data("\(line)\n".utf8))
            var answer = Data()
            while answer.last != UInt8(ascii: "\n") {
                let more = pipes.output.availableData
                guard !more.isEmpty else { throw VectorPlayer.Mistake(description: "the server ended") }
                answer += more
            }
            return String(decoding: answer.dropLast(), as: UTF8.self)
        }
    }
}

/// Shows the time of the vector, and does not wait.
final class VectorClock: SiwaClock {
    let state: Mutex<(now: Date, waits: [JSONValue])>

    init(at text: String) {
        state = Mutex((Self.date(text), []))
    }

    static func date(_ text: String) -> Date {
        (try? Date(text, strategy: .iso8601)) ?? Date(text: text) ?? .distantPast
    }

    var now: Date { state.withLock(\.now) }

    func sleep(seconds: Int) async throws {
        try state.withLock { state in
            // A sequence whose request is wrong would ask for ever.
            guard state.waits.count < 50 else { throw VectorPlayer.Mistake(description: "too many pauses") }
            state.waits.append(.integer(seconds))
            state.now += TimeInterval(seconds)
        }
    }
}

/// A cursor store that notes what happens to it.
private final class TracingStore: CursorStore {
    private let state: Mutex<(cursor: String?, trace: [String])>

    init(cursor: String?) {
        state = Mutex((cursor, []))
    }

    var trace: [String] { state.withLock(\.trace) }

    func note(_ entry: String) {
        state.withLock { $0.trace.append(entry) }
    }

    func load() -> String? {
        note("load")
        return state.withLock(\.cursor)
    }

    func save(_ cursor: String) {
        note("save \(cursor)")
        state.withLock { $0.cursor = cursor }
    }
}

/// Counts the warnings of a client.
private final class Warnings: Sendable {
    private struct Handler: LogHandler {
        let warnings: Warnings
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            warnings.count.withLock { $0 += 1 }
        }
    }

    let count = Mutex(0)

    var logger: Logger { Logger(label: "test") { _ in Handler(warnings: self) } }
}
