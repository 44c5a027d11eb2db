import AppleIDClient
import AsyncHTTPClient
import Foundation
import KeySets
import NIOCore
import ScriptedHTTP
import Synchronization
import TestSupport
import Testing

/// Over real sockets, because timeouts, lost connections and limits are the behaviour of the transport.
@Suite(.timeLimit(.hung)) struct HTTPKeySetSourceTests {
    /// Long enough for a busy machine, for tests that are not about time.
    private static let patient = AppleTimeLimits(
        connect: .seconds(50), read: .seconds(50), total: .seconds(50))
    private static let impatient = AppleTimeLimits(
        connect: .milliseconds(300), read: .milliseconds(300), total: .seconds(50))

    /// Sends one request to a server, with a separate client.
    private func ask(
        _ baseURL: String, ifNoneMatch entityTag: String? = nil, limits: AppleTimeLimits = patient,
        configuration: HTTPClient.Configuration? = nil
    ) async throws -> KeySetResponse {
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: configuration ?? .apple(limits))
        let source = HTTPKeySetSource(
            client: client, endpoints: try #require(AppleEndpoints(baseURL: baseURL)), limits: limits)
        let result: Result<KeySetResponse, any Error>
        do {
            result = .success(try await source.fetch(ifNoneMatch: entityTag))
        } catch {
            result = .failure(error)
        }
        try await client.shutdown()
        return try result.get()
    }

    /// Sends one request to a server that always answers so. Returns the requests too.
    private func ask(
        always answer: ScriptedServer.Response, ifNoneMatch entityTag: String? = nil,
        limits: AppleTimeLimits = patient
    ) async throws -> (response: KeySetResponse, requests: [String]) {
        let server = try await ScriptedServer(always: answer)
        do {
            let response = try await ask(server.baseURL, ifNoneMatch: entityTag, limits: limits)
            try await server.close()
            return (response, server.requests)
        } catch {
            try await server.close()
            throw error
        }
    }

    @Test func `returns the response with the relevant headers`() async throws {
        let (response, requests) = try await ask(
            always: .send(
                """
                HTTP/1.1 200 OK\r
                Content-Type: application/json;charset=UTF-8\r
                Cache-Control: public\r
                cache-control: max-age=600\r
                ETag: "abc"\r
                Age: 17\r
                Content-Length: 11\r
                \r
                {"keys":[]}
                """))
        #expect(
            response
                == KeySetResponse(
                    status: 200, body: Array(#"{"keys":[]}"#.utf8),
                    contentType: "application/json;charset=UTF-8", entityTag: #""abc""#,
                    cacheControl: "public, max-age=600", age: "17"))
        let request = try #require(requests.first).lowercased()
        #expect(request.hasPrefix("get /auth/keys http/1.1\r\n"))
        #expect(request.contains("\r\naccept: application/json\r\n"))
        #expect(request.contains("\r\nuser-agent: siwa\r\n"))
        #expect(!request.contains("if-none-match"))
        #expect(!request.contains("accept-encoding"))
    }

    @Test func `sends the entity tag and accepts a 304`() async throws {
        let (response, requests) = try await ask(
            always: .send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\n\r\n"),
            ifNoneMatch: #"W/"a""#)
        #expect(response.status == 304)
        #expect(response.body.isEmpty)
        #expect(response.cacheControl == "max-age=60")
        #expect(try #require(requests.first).contains("\r\nIf-None-Match: W/\"a\"\r\n"))
    }

    @Test func `returns a web page unchanged`() async throws {
        let (response, _) = try await ask(
            always: .send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"))
        #expect(response.contentType == "text/html")
        #expect(response.body == Array("<html>".utf8))
        #expect(response.cacheControl == nil)
    }

    @Test(arguments: [204, 400, 404, 429, 500, 503])
    func `returns every status, without the body of a failure`(status: Int) async throws {
        let text =
            status == 204
            ? "HTTP/1.1 204 No Content\r\n\r\n"
            : "HTTP/1.1 \(status) Oops\r\nContent-Length: 5\r\n\r\nsorry"
        let (response, _) = try await ask(always: .send(text))
        #expect(response == KeySetResponse(status: status, body: []))
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func `follows no redirect`(status: Int) async throws {
        let elsewhere = try await ScriptedServer(
            always: .send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"keys\":[]}"))
        let head = "HTTP/1.1 \(status) Moved\r\nLocation: \(elsewhere.baseURL)/auth/keys\r\nContent-Length: 0"
        let server = try await ScriptedServer(always: .send("\(head)\r\n\r\n"))
        #expect(try await ask(server.baseURL) == KeySetResponse(status: status, body: []))
        #expect(elsewhere.requests.isEmpty)

        // With a client that follows redirects, the response is refused.
        await #expect(throws: KeySetFetchError(.statusUnexpected)) {
            try await ask(server.baseURL, configuration: .init())
        }
        try await server.close()
        try await elsewhere.close()
    }

    @Test func `reads 64 KiB`() async throws {
        let body = String(repeating: "x", count: 65_536)
        #expect(
            try await ask(always: .send("HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n\(body)")).response
                .body.count == 65_536)
    }

    @Test(arguments: [
        "Content-Length: 65537", "Content-Length: 9999999999", "Transfer-Encoding: chunked",
        "Connection: close",
    ])
    func `stops reading after 64 KiB`(framing: String) async throws {
        let isChunked = framing.hasPrefix("Transfer")
        let kibibyte = String(repeating: "x", count: 1024)
        let server = try await ScriptedServer(
            always: .sendForever(
                "HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n",
                chunk: isChunked ? "400\r\n\(kibibyte)\r\n" : kibibyte, pause: .zero))
        await #expect(throws: KeySetFetchError(.tooLarge)) { try await ask(server.baseURL) }
        // The client closed the connection; otherwise the server would send forever.
        try await eventually { server.openConnections == 0 }
        try await server.close()
    }

    @Test func `times out when a server does not answer`() async throws {
        await #expect(throws: KeySetFetchError(.timedOut)) {
            try await ask(always: .nothing, limits: Self.impatient)
        }
    }

    @Test func `times out when a body stops`() async throws {
        await #expect(throws: KeySetFetchError(.timedOut)) {
            try await ask(
                always: .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), limits: Self.impatient)
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", "HTTP/1.1 200 OK\r\n"])
    func `times out when a response arrives byte by byte`(head: String) async throws {
        // Every byte restarts the read timeout, so only the total time limit ends this.
        let chunk = head.hasSuffix("\r\n\r\n") ? " " : "X-A: b\r\n"
        let server = try await ScriptedServer(
            always: .sendForever(head, chunk: chunk, pause: .milliseconds(20)))
        let limits = AppleTimeLimits(connect: .seconds(50), read: .seconds(50), total: .milliseconds(300))
        await #expect(throws: KeySetFetchError(.timedOut)) { try await ask(server.baseURL, limits: limits) }
        try await eventually { server.openConnections == 0 }
        try await server.close()
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"keys\":",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"key", "SSH-2.0-OpenSSH_9.2\r\n",
        "\0\0\0\0",
    ])
    func `a lost connection is an error`(text: String) async throws {
        await #expect(throws: KeySetFetchError(.unreachable)) { try await ask(always: .sendAndClose(text)) }
    }

    @Test func `a refused connection is an error`() async throws {
        let closed = try ClosedPort()
        // The client retries until the connect timeout, and then reports the last failure if there was one.
        let error = await #expect(throws: KeySetFetchError.self) {
            try await ask("http://127.0.0.1:\(closed.port)", limits: Self.impatient)
        }
        #expect(error == KeySetFetchError(.unreachable) || error == KeySetFetchError(.timedOut))
    }

    @Test func `a server without TLS is an error`() async throws {
        let server = try await ScriptedServer(always: .nothing)
        await #expect(throws: KeySetFetchError.self) {
            try await ask("https://127.0.0.1:\(server.port)", limits: Self.impatient)
        }
        try await server.close()
    }

    @Test(arguments: ["", "keys.json", "ftp://127.0.0.1/keys", "http://", "http:///keys"])
    func `an invalid URL is an error`(url: String) async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        await #expect(throws: KeySetFetchError(.unreachable)) {
            try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: nil)
        }
        try await client.shutdown()
    }

    @Test func `uses another URL`() async throws {
        let server = try await ScriptedServer(
            always: .send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"keys\":[]}"))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let source = HTTPKeySetSource(client: client, url: "\(server.baseURL)/other?keys=1")
        #expect(try await source.fetch(ifNoneMatch: nil).status == 200)
        #expect(try #require(server.requests.first).hasPrefix("GET /other?keys=1 HTTP/1.1\r\n"))
        try await client.shutdown()
        try await server.close()
    }

    @Test func `ends when cancelled`() async throws {
        let server = try await ScriptedServer(always: .nothing)
        let fetch = Task { try await ask(server.baseURL) }
        try await eventually { !server.requests.isEmpty }
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        try await server.close()
    }

    @Test func `ends when cancelled in the middle of a body`() async throws {
        let server = try await ScriptedServer(
            always: .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"keys\":[]}"))
        let fetch = Task { try await ask(server.baseURL) }
        try await eventually { !server.requests.isEmpty }
        for _ in 0..<1000 { await Task.yield() }
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        try await server.close()
    }
}

/// The key-set cache with the transport, over a real socket.
@Suite(.timeLimit(.hung)) struct RemoteKeySetOverHTTPTests {
    private static let keys = """
        {"keys":[{"kty":"RSA","kid":"A","use":"sig","alg":"RS256","e":"AQAB","n":"\
        \(String(repeating: "vw", count: 170))vQ"}]}
        """

    private static let good =
        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(keys.utf8.count)\r\n\r\n\(keys)"

    private func withKeySet(
        _ server: ScriptedServer, _ body: (RemoteKeySet) async throws -> Void
    ) async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let endpoints = try #require(AppleEndpoints(baseURL: server.baseURL))
        let keys = RemoteKeySet(source: HTTPKeySetSource(client: client, endpoints: endpoints))
        let loop = Task { await keys.run() }
        try await eventually { keys.health.status == .ready }
        try await body(keys)
        loop.cancel()
        await loop.value
        try await client.shutdown()
        try await server.close()
    }

    @Test func `fetches once and caches keys`() async throws {
        let server = try await ScriptedServer(always: .send(Self.good))
        try await withKeySet(server) { keys in
            let key = try await keys.key(for: "A")
            #expect(keys.cachedKey(for: "A") === key)
        }
        #expect(server.requests.count == 1)
    }

    @Test func `keeps good keys when the response is a web page`() async throws {
        let server = try await ScriptedServer { number in
            number == 1 ? .send(Self.good) : .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
        }
        try await withKeySet(server) { keys in
            await #expect(throws: KeySetError(.keysUnavailable)) { try await keys.key(for: "B") }
            #expect(keys.cachedKey(for: "A") != nil)
            #expect(keys.health.status == .stale(.html))
        }
        #expect(server.requests.count == 2)
    }

    @Test func `invented keys share one request`() async throws {
        let server = try await ScriptedServer(always: .send(Self.good))
        try await withKeySet(server) { keys in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        // Unknown for those whom the fetch served; the others come back after the cooldown.
                        await #expect(throws: KeySetError.self) {
                            try await keys.key(for: "invented-\(number)")
                        }
                    }
                }
            }
        }
        #expect(server.requests.count == 2)
    }
}

/// `openssl s_server` on a free port, with a self-signed certificate.
final class StrangeTLSServer {
    let port: Int
    private let process = Process()
    private let directory: TemporaryDirectory
    private let output = Output()

    /// Its output, which contains the TLS alerts of clients.
    var text: String { output.text.withLock { $0 } }

    init() async throws {
        directory = try TemporaryDirectory()
        let (key, certificate) = (directory.path(of: "key.pem"), directory.path(of: "certificate.pem"))
        let making = try await ProgramRun.named(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2", "-keyout", key,
                "-out", certificate,
            ])
        #expect(making.status == 0, "\(making.output)")
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "0", "-key", key, "-cert", certificate, "-www",
        ]
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        try process.launchAlone()
        var said = ""
        var found: Int?
        while found == nil {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            said += String(decoding: data, as: UTF8.self)
            let line = said.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first { $0.hasPrefix("ACCEPT") }
            found = line?.split(separator: ":").last.flatMap { Int($0) }
        }
        port = try #require(found, "openssl s_server said: \(said)")
        let output = self.output
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
            } else {
                output.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
            }
        }
    }

    private final class Output: Sendable {
        let text = Mutex("")
    }

    deinit {
        // Not SIGTERM: the process inherits the ignored SIGTERM of the services under test.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
