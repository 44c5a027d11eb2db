import AsyncHTTPClient
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// `siwa dev` as a process of its own.
struct DevelopmentProcess: Sendable {
    let port: Int
    let applePort: Int
    let googlePort: Int
    let receiverPort: Int

    /// Runs `siwa dev` with a port of the service that is known in advance, as sign-in on the web needs.
    ///
    /// - Parameter port: Port of the service; `nil` for a free port.
    static func with<Result>(
        _ options: [String] = [], port fixed: Int? = nil, in directory: TemporaryDirectory,
        _ body: (DevelopmentProcess) async throws -> Result
    ) async throws -> Result {
        let servicePort = try fixed ?? FreePort.find()
        let printed = URL(fileURLWithPath: "\(directory.path)/printed-\(UUID().uuidString).txt")
        let process = try ServiceProcess.start(
            ["dev", "--port", "\(servicePort)", "--emulator-port", "0"] + options,
            ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: printed,
            error: URL(fileURLWithPath: "\(directory.path)/dev.log"))
        return try await ServiceProcess.stopping(process) {
            try await eventually { try String(contentsOf: printed, encoding: .utf8).contains("Ctrl-C") }
            let text = try String(contentsOf: printed, encoding: .utf8)
            func port(after mark: String) -> Int {
                let digits = text.firstRange(of: mark).map { text[$0.upperBound...].prefix { $0.isNumber } }
                return digits.flatMap { Int($0) } ?? 0
            }
            return try await body(
                DevelopmentProcess(
                    port: servicePort, applePort: port(after: "fake Apple http://127.0.0.1:"),
                    googlePort: port(after: "fake Google http://127.0.0.1:"),
                    receiverPort: port(after: "receivers  http://127.0.0.1:")))
        }
    }
}

/// A visitor of the console of `siwa dev` without a browser, who posts forms with the token of the page.
struct ConsoleVisitor: Sendable {
    let system: DevelopmentProcess

    func get(_ path: String) async throws -> String {
        let (status, text, _) = try await send(path, nil)
        #expect(status == 200, "\(path) \(text)")
        return text
    }

    func status(_ path: String, _ form: [String: String]? = nil) async throws -> Int {
        if form != nil { return try await self.form(path, []).status }
        return try await send(path, nil).status
    }

    /// Posts a form that must succeed.
    func post(_ path: String, _ fields: [(String, String)] = []) async throws {
        let (status, text) = try await form(path, fields)
        #expect(status == 303, "\(path) \(text)")
    }

    /// Posts a form with the token of the page.
    func form(_ path: String, _ fields: [(String, String)]) async throws -> (status: Int, text: String) {
        let (_, page, cookies) = try await send("/console/people", nil)
        let token = try #require(page.firstMatch(of: #/name="csrf" value="([^"]*)"/#)).1
        let (status, text, _) = try await send(
            path, [("csrf", String(token))] + fields, cookies: cookies)
        return (status, text)
    }

    private func send(
        _ path: String, _ form: [(String, String)]?, cookies: [String] = []
    ) async throws -> (status: Int, text: String, cookies: [String]) {
        var request = HTTPClientRequest(url: "\(system.service)\(path)")
        request.headers.add(name: "Origin", value: system.service)
        for cookie in cookies {
            request.headers.add(name: "Cookie", value: String(cookie.prefix { $0 != ";" }))
        }
        if let form {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(
                ByteBuffer(string: FormEncoding.encode(form.map { (name: $0.0, value: $0.1) })))
        }
        let sent = request
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try await client.execute(sent, timeout: .seconds(120))
            let text = String(buffer: try await response.body.collect(upTo: 1 << 22))
            return (Int(response.status.code), text, response.headers["Set-Cookie"])
        }
    }
}
