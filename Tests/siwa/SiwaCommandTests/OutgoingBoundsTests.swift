import AppleIDClient
import AsyncHTTPClient
import NIOCore
import NIOSSL
import OAuthLogin
import ScriptedHTTP
import Testing
import TraceExport

@testable import Composition
@testable import siwa

/// Servers that send more around a body than a response has, to each of our HTTP clients.
@Suite(.timeLimit(.minutes(2))) struct OutgoingBoundsTests {
    enum Client: String, CaseIterable {
        /// Apple's endpoints, Google's endpoints, Google's events, and the probes of `siwa doctor`.
        case apple
        case webhook, traces, login, healthcheck

        /// Sends one request, and reads the whole response.
        func ask(_ server: ScriptedServer) async throws {
            switch self {
            case .apple: try await Self.get(server, .apple())
            case .login: try await Self.get(server, LoginTransport.configuration)
            case .healthcheck: try await Self.get(server, Healthcheck.client)
            case .webhook:
                let connections = PinnedConnections(
                    host: "127.0.0.1", rule: HTTPEventDestinationTests.loopback,
                    resolver: ScriptedResolver(["127.0.0.1"]), tls: .makeClientConfiguration())
                let result = await Result { try await Self.get(server, try await connections.client()) }
                await connections.close()
                try result.get()
            case .traces:
                let collector = HTTPTraceCollector(
                    TraceSettings(url: "\(server.baseURL)/v1/traces", headers: [:], ratio: 1, service: "test")
                )
                let result = await Result { try await Self.get(server, collector.client) }
                try? await collector.client.shutdown()
                try result.get()
            }
        }

        private static func get(
            _ server: ScriptedServer, _ configuration: HTTPClient.Configuration
        ) async throws {
            try await HTTPClient.withHTTPClient(configuration: configuration) { try await get(server, $0) }
        }

        private static func get(_ server: ScriptedServer, _ client: HTTPClient) async throws {
            let response = try await client.execute(
                HTTPClientRequest(url: server.baseURL), timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
        }
    }

    static let interim = "HTTP/1.1 100 Continue\r\n\r\n"
    static let field = "x-field: \(String(repeating: "a", count: 1000))\r\n"

    /// A beginning and what follows it without end.
    static let floods: [(begin: String, chunk: String)] = [
        (interim, interim), (interim, String(repeating: interim, count: 2000)),
        ("HTTP/1.1 103 Early Hints\r\n", field), ("HTTP/1.1 200 OK\r\n", field),
        ("HTTP/1.1 200 OK\r\nx-field: ", String(repeating: "a", count: 1000)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", String(repeating: "a", count: 1000)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", field),
    ]

    @Test(arguments: Client.allCases, floods.indices)
    func `what a server sends beside a body is bounded`(client: Client, flood: Int) async throws {
        let (begin, chunk) = Self.floods[flood]
        let server = try await ScriptedServer(
            always: .sendForever(begin, chunk: chunk, pause: .microseconds(100)))
        do {
            try await client.ask(server)
            Issue.record("a response without end was read")
        } catch let error as HTTPClientError {
            #expect(error != .deadlineExceeded && error != .readTimeout)
        } catch {
            // The bound, or that of the decoder.
        }
        try await server.close()
    }

    @Test(
        arguments: Client.allCases,
        [interim + interim + "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", ""])
    func `a usual response is read, also with interim responses and 300 KB in small chunks`(
        client: Client, before: String
    ) async throws {
        let chunk = "400\r\n\(String(repeating: "b", count: 1024))\r\n"
        let server = try await ScriptedServer(
            always: .send(
                before + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(Self.field)\r\n"
                    + String(repeating: chunk, count: 300) + "0\r\n\r\n"))
        try await client.ask(server)
        try await server.close()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
