import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// `siwa dev` as a process of its own.
struct DevelopmentProcess: Sendable {
    let port: Int
    let applePort: Int
    let googlePort: Int
    let receiverPort: Int
    let directory: TemporaryDirectory

    var service: String { "http://127.0.0.1:\(port)" }
    var apple: String { "http://127.0.0.1:\(applePort)" }
    var google: String { "http://127.0.0.1:\(googlePort)" }
    var receiver: String { "http://127.0.0.1:\(receiverPort)" }
    var backend: Backend { Backend(port: port, secret: DevelopmentSettings.secret) }
    /// The control calls of the fakes.
    var appleControl: Backend { Backend(port: applePort, secret: "") }
    var googleControl: Backend { Backend(port: googlePort, secret: "") }
    var console: ConsoleVisitor { ConsoleVisitor(root: service) }

    /// Runs `siwa dev` with a port of the service that is known in advance, as sign-in on the web needs.
    ///
    /// - Parameters:
    ///   - port: Port of the service; `nil` for a free port.
    ///   - directory: Directory of the process; `nil` for one of its own.
    static func with<Result>(
        _ options: [String] = [], port fixed: Int? = nil, in directory: TemporaryDirectory? = nil,
        _ body: (DevelopmentProcess) async throws -> Result
    ) async throws -> Result {
        guard let directory else {
            return try await TemporaryDirectory.with { try await with(options, port: fixed, in: $0, body) }
        }
        let servicePort = try fixed ?? FreePort.find()
        return try await printing(
            ["dev", "--port", "\(servicePort)", "--emulator-port", "0"] + options, until: "Ctrl-C",
            in: directory
        ) { text in
            func port(after mark: String) -> Int {
                let digits = text.firstRange(of: mark).map { text[$0.upperBound...].prefix { $0.isNumber } }
                return digits.flatMap { Int($0) } ?? 0
            }
            return try await body(
                DevelopmentProcess(
                    port: servicePort, applePort: port(after: "fake Apple http://127.0.0.1:"),
                    googlePort: port(after: "fake Google http://127.0.0.1:"),
                    receiverPort: port(after: "receivers  http://127.0.0.1:"), directory: directory))
        }
    }

    /// The same with Chromium beside it.
    static func browsed<Result: Sendable>(
        _ options: [String] = [], _ body: @Sendable (DevelopmentProcess, Browser) async throws -> Result
    ) async throws -> Result {
        try await with(options) { system in
            try await Browser.with { try await body(system, $0) }
        }
    }

    /// Runs a command, and gives what it has printed when this is a part of it. Stops the command at the end.
    static func printing<Result>(
        _ arguments: [String], until mark: String, in directory: TemporaryDirectory,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let name = UUID().uuidString
        let printed = URL(fileURLWithPath: directory.path(of: "printed-\(name)"))
        let process = try ServiceProcess.start(
            arguments, ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: printed,
            error: URL(fileURLWithPath: directory.path(of: "\(name).log")))
        return try await ServiceProcess.stopping(process) {
            try await eventually { try String(contentsOf: printed, encoding: .utf8).contains(mark) }
            return try await body(try String(contentsOf: printed, encoding: .utf8))
        }
    }

    /// Makes a user at the fake Apple, and signs the user in. Returns the `sub` and what the app has sent.
    @discardableResult
    func signIn(
        _ user: Backend.Members = [], code: Bool = false
    ) async throws -> (subject: String, members: Backend.Members) {
        let subject = try await appleControl.post("/emulator/users?format=text", user).text
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let form = try await appleControl.post(
            "/emulator/identity-tokens?format=sign-in", [("sub", .string(subject)), ("code", .bool(code))])
        let members = (form.json?.object?.members ?? []).map { ($0.name, $0.value) }
        #expect(try await backend.post("/v1/sign-ins", members).status == 201)
        return (subject, members)
    }

    /// The user stops using the app, and the service hears of it.
    func revoke(_ subject: String) async throws {
        let told = try await appleControl.post("/emulator/users/\(subject)/revoke-consent?format=text")
        #expect(told.text.trimmingCharacters(in: .newlines) == "200")
    }

    /// A text of the documentation with the ports of this process.
    func own(_ text: String) -> String {
        zip(8080..., [service, apple, google, receiver]).reduce(text) {
            $0.replacing("http://127.0.0.1:\($1.0)", with: $1.1)
        }
    }
}

/// A visitor of a console without a browser, who posts forms with the token of the page.
struct ConsoleVisitor: Sendable {
    /// Address of the server with the console.
    let root: String

    func get(_ path: String) async throws -> String {
        let page = try await send(.GET, path)
        #expect(page.status == 200, "\(path) \(page.text)")
        return page.text
    }

    func status(_ path: String) async throws -> UInt { try await send(.GET, path).status }

    /// Posts a form that must succeed.
    func post(_ path: String, _ fields: TestClient.Fields = []) async throws {
        let answer = try await form(path, fields)
        #expect(answer.status == 303, "\(path) \(answer.text)")
    }

    /// Posts a form with the token of the page.
    func form(_ path: String, _ fields: TestClient.Fields = []) async throws -> TestClient.Response {
        let page = try await send(.GET, "/console/people")
        let token = try #require(page.text.firstMatch(of: #/name="csrf" value="([^"]*)"/#)).1
        return try await send(.POST, path, [("csrf", String(token))] + fields, cookie: page.cookie)
    }

    func send(
        _ method: HTTPMethod, _ path: String, _ form: TestClient.Fields? = nil, cookie: String? = nil
    ) async throws -> TestClient.Response {
        try await TestClient.send(
            method, root + path, headers: [("Origin", root)], form: form, cookie: cookie,
            within: .seconds(120))
    }

    /// Signs an operator in, who then has this cookie.
    func signIn(_ key: String, then path: String = "") async throws -> String {
        try #require(try await send(.POST, "/console/sign-in", [("key", key), ("then", path)]).cookie)
    }
}
